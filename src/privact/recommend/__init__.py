"""tree + ratings -> items, tree + reports -> people."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privact.recommend.cold_start.cold_start_recommender import ColdStartRecommender as ColdStartRecommender
    from privact.recommend.cold_start.cold_start_recommender import ColdStartSettings as ColdStartSettings
    from privact.recommend.cold_start.community_filter import CommunityFilter as CommunityFilter
    from privact.recommend.cold_start.community_filter import ItemAverage as ItemAverage
    from privact.recommend.cold_start.contact_groups import ContactGroups as ContactGroups
    from privact.recommend.cold_start.similar_reports import SimilarReports as SimilarReports
    from privact.recommend.cold_start.validation import choose_settings as choose_settings
    from privact.recommend.cold_start.validation import choose_settings_for_tree as choose_settings_for_tree
    from privact.recommend.data.metrics import CUTOFF as CUTOFF
    from privact.recommend.data.metrics import Scores as Scores
    from privact.recommend.data.metrics import average_over_cutoffs as average_over_cutoffs
    from privact.recommend.data.metrics import mark_hits as mark_hits
    from privact.recommend.data.metrics import score as score
    from privact.recommend.data.ratings import Ratings as Ratings
    from privact.recommend.data.read_ratings import read_ratings as read_ratings
    from privact.recommend.data.splits import FOLDS as FOLDS
    from privact.recommend.data.splits import Split as Split
    from privact.recommend.data.splits import draw_folds as draw_folds
    from privact.recommend.data.splits import split_ratings as split_ratings
    from privact.recommend.data.splits import split_users as split_users
    from privact.recommend.exposure.exposure_settings import ExposureSettings as ExposureSettings
    from privact.recommend.exposure.social_exposure import SocialExposure as SocialExposure
    from privact.recommend.factors.factor_model import FactorModel as FactorModel
    from privact.recommend.factors.implicit_factors import ImplicitFactors as ImplicitFactors
    from privact.recommend.factors.neighbour_blend import NeighbourBlend as NeighbourBlend
    from privact.recommend.neighbours import as_neighbours as as_neighbours
    from privact.recommend.neighbours import draw_random_neighbours as draw_random_neighbours
    from privact.recommend.neighbours import find_tree_neighbours as find_tree_neighbours
    from privact.recommend.people.contact_affinity import ContactAffinity as ContactAffinity
    from privact.recommend.people.contact_recommender import ContactRecommender as ContactRecommender
    from privact.recommend.people.contact_recommender import PersonRecommendation as PersonRecommendation
    from privact.recommend.people.contact_recommender import ReportedRound as ReportedRound
    from privact.recommend.popularity import MostPopular as MostPopular
    from privact.recommend.recommender import Recommendation as Recommendation
    from privact.recommend.recommender import Recommender as Recommender
    from privact.recommend.recommender import SimilarUser as SimilarUser
    from privact.recommend.taste_groups import TasteGroups as TasteGroups
    from privact.recommend.taste_groups import find_taste_groups as find_taste_groups
    from privact.recommend.taste_groups import make_taste_vectors as make_taste_vectors
else:
    from privact.exports import export_lazily

    __all__, __getattr__, __dir__ = export_lazily(
        __name__,
        {
            "privact.recommend.cold_start.community_filter": ["CommunityFilter", "ItemAverage"],
            "privact.recommend.cold_start.contact_groups": ["ContactGroups"],
            "privact.recommend.cold_start.cold_start_recommender": ["ColdStartRecommender", "ColdStartSettings"],
            "privact.recommend.cold_start.similar_reports": ["SimilarReports"],
            "privact.recommend.cold_start.validation": ["choose_settings", "choose_settings_for_tree"],
            "privact.recommend.data.metrics": ["CUTOFF", "Scores", "average_over_cutoffs", "mark_hits", "score"],
            "privact.recommend.data.ratings": ["Ratings"],
            "privact.recommend.data.read_ratings": ["read_ratings"],
            "privact.recommend.data.splits": ["FOLDS", "Split", "draw_folds", "split_ratings", "split_users"],
            "privact.recommend.exposure.exposure_settings": ["ExposureSettings"],
            "privact.recommend.exposure.social_exposure": ["SocialExposure"],
            "privact.recommend.factors.factor_model": ["FactorModel"],
            "privact.recommend.factors.implicit_factors": ["ImplicitFactors"],
            "privact.recommend.factors.neighbour_blend": ["NeighbourBlend"],
            "privact.recommend.neighbours": ["as_neighbours", "draw_random_neighbours", "find_tree_neighbours"],
            "privact.recommend.people.contact_affinity": ["ContactAffinity"],
            "privact.recommend.people.contact_recommender": ["ContactRecommender", "PersonRecommendation", "ReportedRound"],
            "privact.recommend.popularity": ["MostPopular"],
            "privact.recommend.recommender": ["Recommendation", "Recommender", "SimilarUser"],
            "privact.recommend.taste_groups": ["TasteGroups", "find_taste_groups", "make_taste_vectors"],
        },
    )
