"""What hosts share of their stores: entries by digest in a folder, on NFS or in S3, fetched whole or not at all."""

from burnish.artefacts.artefacts import Artefacts, open_artefacts

__all__ = ["Artefacts", "open_artefacts"]
