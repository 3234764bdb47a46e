"""files -> whole contact graphs, for experiments only."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privact.network.datasets import DATA_VARIABLE as DATA_VARIABLE
    from privact.network.datasets import TABLE_1 as TABLE_1
    from privact.network.datasets import Dataset as Dataset
    from privact.network.datasets import NetworkSize as NetworkSize
    from privact.network.datasets import find_dataset_folder as find_dataset_folder
    from privact.network.datasets import load_dataset as load_dataset
    from privact.network.fetch import Fetched as Fetched
    from privact.network.fetch import fetch_dataset as fetch_dataset
    from privact.network.fetch import import_dataset as import_dataset
    from privact.network.graph import ContactGraph as ContactGraph
    from privact.network.graph_files import read_graph as read_graph
    from privact.network.graph_inputs import as_graph as as_graph
    from privact.network.sources import SOURCES as SOURCES
    from privact.network.sources import Source as Source
    from privact.network.streamed_degrees import StreamedDegrees as StreamedDegrees
    from privact.network.streamed_degrees import stream_degree_vectors as stream_degree_vectors
else:
    from privact.exports import export_lazily

    __all__, __getattr__, __dir__ = export_lazily(
        __name__,
        {
            "privact.network.datasets": [
                "DATA_VARIABLE",
                "Dataset",
                "NetworkSize",
                "TABLE_1",
                "find_dataset_folder",
                "load_dataset",
            ],
            "privact.network.fetch": ["Fetched", "fetch_dataset", "import_dataset"],
            "privact.network.graph": ["ContactGraph"],
            "privact.network.graph_files": ["read_graph"],
            "privact.network.graph_inputs": ["as_graph"],
            "privact.network.sources": ["SOURCES", "Source"],
            "privact.network.streamed_degrees": ["StreamedDegrees", "stream_degree_vectors"],
        },
    )
