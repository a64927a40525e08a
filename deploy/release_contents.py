#!/usr/bin/env python3
"""An SPDX 2.3 document of a release: its artifacts with checksums, and the packages that they need.

    release_contents.py VERSION COMMIT FOLDER

Reads the artifacts in FOLDER; what Debian packages depend on is read from them, and the shared libraries
in the relocatable archive and in the wheel are listed by the packages of this machine that they come from.
"""

import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import uuid
import zipfile

LICENSE = "Apache-2.0"


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def identifier(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def package(name, version, license_name, **more):
    return {"SPDXID": identifier(name), "name": name, "versionInfo": version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": license_name, "licenseDeclared": license_name,
            "copyrightText": "NOASSERTION", **more}


def artifact(path, version):
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return package(path.name, version, LICENSE,
                   checksums=[{"algorithm": "SHA256", "checksumValue": digest}])


def needed_by_deb(path):
    """The names of the packages that a Debian package depends on, without alternatives."""
    depends = run("dpkg-deb", "--field", path, "Depends")
    return sorted({part.split("|")[0].split("(")[0].strip() for part in depends.split(",")} - {""})


def bundled_in(path):
    """The Debian packages of this machine whose shared libraries an archive or a wheel has."""
    is_wheel = path.suffix == ".whl"
    listed = (zipfile.ZipFile(path).namelist() if is_wheel
              else run("tar", "--zstd", "-tf", path).splitlines())
    # A wheel's own modules lie elsewhere.
    names = {pathlib.PurePath(line).name for line in listed
             if ".so" in line and "libgridfold" not in line
             and (not is_wheel or line.startswith("gridfold.libs/"))}
    owners = set()
    for name in sorted(names):
        for line in run("dpkg-query", "--search", f"*/{name}").splitlines():
            owners.add(line.split(": ")[0].split(":")[0])
    return sorted(owners)


def installed_version(name):
    return run("dpkg-query", "-W", "-f", "${Version}", name).strip() or "NOASSERTION"


def document(version, commit, folder):
    when = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", 0)),
                                           datetime.timezone.utc)
    packages, relationships, known = [], [], {}
    for path in sorted(folder.iterdir()):
        if path.suffix not in (".deb", ".whl", ".zst"):
            continue
        packages.append(artifact(path, version))
        relationships.append(("SPDXRef-DOCUMENT", "DESCRIBES", identifier(path.name)))
        is_deb = path.suffix == ".deb"
        needed = needed_by_deb(path) if is_deb else bundled_in(path)
        for name in needed:
            known.setdefault(name, package(name, installed_version(name), "NOASSERTION"))
            relationships.append((identifier(path.name), "DEPENDS_ON" if is_deb else "CONTAINS",
                                  identifier(name)))
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"gridfold-{version}",
        # The same for the same commit.
        "documentNamespace": "urn:uuid:" + str(uuid.uuid5(uuid.NAMESPACE_URL, f"gridfold/{commit}")),
        "creationInfo": {"created": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": ["Tool: gridfold-release_contents.py"]},
        "packages": packages + [known[name] for name in sorted(known)],
        "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
                          for one, kind, other in relationships],
    }


if __name__ == "__main__":
    print(json.dumps(document(sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])), indent=1))
