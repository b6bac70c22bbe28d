"""The crates that one crate is built of, as a CycloneDX 1.6 document: `sbom.py MANIFEST CRATE`.

Platforms and features are those of the release; what only builds or tests is left out. Two runs write the same bytes.
"""

import datetime
import json
import os
import subprocess
import sys
import tomllib
import uuid
from pathlib import Path

TARGETS = {"del-js": "wasm32-unknown-unknown"}


def main(manifest: str, name: str) -> None:
    target = TARGETS.get(name, "x86_64-unknown-linux-gnu")
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
    metadata = json.loads(subprocess.run([*command, "--manifest-path", manifest], check=True, capture_output=True).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    needs = {
        node["id"]: sorted(
            dependency["pkg"]
            for dependency in node["deps"]
            if any(kind["kind"] is None for kind in dependency["dep_kinds"])  # neither for builds nor for tests
        )
        for node in metadata["resolve"]["nodes"]
    }
    (root,) = (id for id, package in packages.items() if package["name"] == name)
    used, waiting = {root}, [root]
    while waiting:
        new = set(needs[waiting.pop()]) - used
        used |= new
        waiting += new
    checksums = locked(Path(metadata["workspace_root"], "Cargo.lock"))
    listed = sorted(used, key=lambda id: (packages[id]["name"], packages[id]["version"]))
    components = {id: component(packages[id], checksums) for id in listed}
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"timestamp": built(), "component": components.pop(root) | {"type": "application"}},
        "components": list(components.values()),
        "dependencies": [
            {"ref": purl(packages[id]), "dependsOn": sorted(purl(packages[need]) for need in needs[id])} for id in listed
        ],
    }
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(document, sort_keys=True))
    print(json.dumps(document | {"serialNumber": serial.urn}, indent=1))


def component(package: dict, checksums: dict) -> dict:
    described = {
        "type": "library",
        "bom-ref": purl(package),
        "name": package["name"],
        "version": package["version"],
        "purl": purl(package),
    }
    if package["license"]:
        described["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    checksum = checksums.get((package["name"], package["version"]))
    if checksum:
        described["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return described


def purl(package: dict) -> str:
    return f"pkg:cargo/{package['name']}@{package['version']}"


def locked(lock: Path) -> dict:
    packages = tomllib.loads(lock.read_text())["package"]
    return {(package["name"], package["version"]): package.get("checksum") for package in packages}


def built() -> str:
    """When: that of the commit."""
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).isoformat().replace("+00:00", "Z")


if __name__ == "__main__":
    main(*sys.argv[1:])
