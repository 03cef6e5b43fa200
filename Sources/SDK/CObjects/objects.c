#include "CObjects.h"

#include <stddef.h>
#include <stdint.h>

/* Class metadata without Objective-C, as docs/ABI/TypeMetadata of Swift describes it and every Swift 5 and 6 on Linux has
 * it; the methods follow. */
struct class_metadata {
    uintptr_t kind;
    const struct class_metadata *superclass;
    uint32_t flags, instance_address_point, instance_size;
    uint16_t instance_alignment_mask, reserved;
    uint32_t class_size, class_address_point;
    const void *description;
};

/* Foundation's NSObject.__allocating_init(). */
extern void nsobject_allocating_init(void) __asm__("$s10Foundation8NSObjectCACycfC");

typedef __attribute__((swiftcall)) void *allocating_init(__attribute__((swift_context)) const void *type);

void *bgtask_objects_make(const void *type, const void *base) {
    const struct class_metadata *object = base;
    size_t words = (object->class_size - object->class_address_point) / sizeof(void *);
    // The slot of NSObject's own table that holds its init is the slot of every subclass's.
    for (size_t slot = sizeof(*object) / sizeof(void *); slot < words; slot++)
        if (((void *const *)base)[slot] == (void *)nsobject_allocating_init)
            return ((allocating_init *)((void *const *)type)[slot])(type);
    return NULL;
}
