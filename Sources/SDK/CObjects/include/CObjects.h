/* Makes an object of a class that is known only at run time, as Objective-C's `[type new]` does: app delegates are made
 * so, and their classes promise no initialiser. */
#ifndef BGTASK_COBJECTS_H
#define BGTASK_COBJECTS_H

/** Calls a class's own `init()` through its table of methods.
 *
 * - type: the metadata of NSObject or a subclass of it.
 * - base: the metadata of NSObject.
 *
 * Returns the object, owned by the caller; NULL where the table does not look as it does in Swift 5 and 6. */
void *bgtask_objects_make(const void *type, const void *base);

#endif
