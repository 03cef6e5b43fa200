#if BackgroundTransfers
    // On iOS, a file that imports UIKit has URLSession from Foundation.
    @_exported public import BackgroundTasks
#endif
