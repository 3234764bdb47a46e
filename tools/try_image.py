"""Build the container image with deploy/build_image.sh and start its server: on Debian with buildah and debootstrap, as root.

    python tools/try_image.py

Needs the package index and a mirror of Debian, no registry and no daemon. Takes minutes and some gigabytes, so CI leaves it out.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SERVE = """
id --name --user
privact serve --port 8466 >/tmp/log 2>&1 &
for attempt in $(seq 120); do
    sleep 1
    python -c "from urllib.request import urlopen; print(urlopen('http://127.0.0.1:8466/readyz').status)" 2>/dev/null && break
done
kill $!; wait $!
stat --format '%a %n' /var/lib/privact /var/lib/privact/*
"""


def main() -> None:
    """Build, look at the image's configuration, and start its server without privileges."""
    missing = [name for name in ("buildah", "debootstrap") if shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") is None]
    if os.geteuid() != 0 or missing:
        sys.exit(f"try_image: run as root on Debian{f'; apt install {chr(32).join(missing)}' if missing else ''}")
    subprocess.run([ROOT / "deploy" / "build_image.sh"], check=True)
    described = subprocess.run(["buildah", "inspect", "--type", "image", "privact"], check=True, capture_output=True).stdout
    config = json.loads(described)["Docker"]["config"]
    assert (config["User"], list(config["ExposedPorts"])) == ("privact", ["8420/tcp"]), config
    assert config["Cmd"][:2] == ["privact", "serve"], config
    container = subprocess.run(["buildah", "from", "privact"], check=True, capture_output=True, text=True).stdout.strip()
    try:
        inside = ["buildah", "run", "--isolation", "chroot", container, "--", "sh", "-c", SERVE]
        said = subprocess.run(inside, check=True, capture_output=True, text=True).stdout.splitlines()
    finally:
        subprocess.run(["buildah", "rm", container], check=True, capture_output=True)
    assert said[:2] == ["privact", "200"], said
    assert "700 /var/lib/privact" in said, said
    assert "600 /var/lib/privact/operator-token" in said, said
    print("try_image: the image was built, and its server was ready")


if __name__ == "__main__":
    main()
