"""From a package, archive, folder or patch to an unpacked tree that is named by its digest."""
