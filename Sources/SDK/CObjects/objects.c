#include "CObjects.h"

#include <stddef.h>
#include <stdint.h>

/* The layout of class metadata on Linux, without Objective-C, in Swift 5 and 6 (docs/ABI/TypeMetadata in
 * the Swift repository). The methods follow the struct. */
struct class_metadata {
    uintptr_t kind;
    const struct class_metadata *superclass;
    uint32_t flags, instance_address_point, instance_size;
    uint16_t instance_alignment_mask, reserved;
    uint32_t class_size, class_address_point;
    const void *description;
};

/* The mangled name of Foundation's NSObject.__allocating_init(). */
extern void nsobject_allocating_init(void) __asm__("$s10Foundation8NSObjectCACycfC");

typedef __attribute__((swiftcall)) void *allocating_init(__attribute__((swift_context)) const void *type);

void *bgtask_objects_make(const void *type, const void *base) {
    const struct class_metadata *object = base;
    size_t words = (object->class_size - object->class_address_point) / sizeof(void *);
    // A subclass has its `init` in the same slot of its table as NSObject.
    for (size_t slot = sizeof(*object) / sizeof(void *); slot < words; slot++)
        if (((void *const *)base)[slot] == (void *)nsobject_allocating_init)
            return ((allocating_init *)((void *const *)type)[slot])(type);
    return NULL;
}
