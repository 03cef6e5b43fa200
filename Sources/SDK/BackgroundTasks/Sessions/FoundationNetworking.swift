#if BackgroundTransfers
    // On iOS, Foundation contains URLSession. A file that imports this module, and not FoundationNetworking
    // itself, gets the declarations of this module in place of those with the same name.
    @_exported public import FoundationNetworking
#endif
