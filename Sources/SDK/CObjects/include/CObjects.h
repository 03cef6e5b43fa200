/* Makes an object of a class that is known only at run time, as `[type new]` does in Objective-C. App
 * delegates are made this way, because their protocol does not require an initializer. */
#ifndef BGTASK_COBJECTS_H
#define BGTASK_COBJECTS_H

/** Calls a class's own `init()` through the method table of the class.
 *
 *  - type: the metadata of NSObject or of a subclass.
 *  - base: the metadata of NSObject.
 *
 *  Returns the object, which the caller owns; NULL if the table does not have the layout of Swift 5 and 6. */
void *bgtask_objects_make(const void *type, const void *base);

#endif
