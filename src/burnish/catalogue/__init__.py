"""All that is data, each entry with its reason: the files of data/ in, frozen values out."""
