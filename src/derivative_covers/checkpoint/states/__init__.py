"""States: nests of arrays, as callbacks get them and as storages keep them."""
