"""Sources: from a package, archive, folder or patch to an unpacked tree, identified by its digest."""
