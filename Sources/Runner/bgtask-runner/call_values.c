/* SPDX-License-Identifier: Apache-2.0 */
/* The C types of call programs, and conversions between their values. */
#include "call_program.h"

static const struct {
    ffi_type *ffi;
    uint8_t size;
    bool is_unsigned;
} types[CALL_TYPE_COUNT] = {
    [CALL_VOID] = {&ffi_type_void, 0, false},
    [CALL_BOOL] = {&ffi_type_uint8, 1, true},
    [CALL_CHAR] = {&ffi_type_schar, 1, false},
    [CALL_UCHAR] = {&ffi_type_uchar, 1, true},
    [CALL_SHORT] = {&ffi_type_sshort, sizeof(short), false},
    [CALL_USHORT] = {&ffi_type_ushort, sizeof(short), true},
    [CALL_INT] = {&ffi_type_sint, sizeof(int), false},
    [CALL_UINT] = {&ffi_type_uint, sizeof(int), true},
    [CALL_LONG] = {&ffi_type_slong, sizeof(long), false},
    [CALL_ULONG] = {&ffi_type_ulong, sizeof(long), true},
    [CALL_LONGLONG] = {&ffi_type_sint64, 8, false},
    [CALL_ULONGLONG] = {&ffi_type_uint64, 8, true},
    [CALL_INT8] = {&ffi_type_sint8, 1, false},
    [CALL_UINT8] = {&ffi_type_uint8, 1, true},
    [CALL_INT16] = {&ffi_type_sint16, 2, false},
    [CALL_UINT16] = {&ffi_type_uint16, 2, true},
    [CALL_INT32] = {&ffi_type_sint32, 4, false},
    [CALL_UINT32] = {&ffi_type_uint32, 4, true},
    [CALL_INT64] = {&ffi_type_sint64, 8, false},
    [CALL_UINT64] = {&ffi_type_uint64, 8, true},
    [CALL_SIZE] = {&ffi_type_uint64, sizeof(size_t), true},
    [CALL_FLOAT] = {&ffi_type_float, sizeof(float), false},
    [CALL_DOUBLE] = {&ffi_type_double, sizeof(double), false},
    [CALL_POINTER] = {&ffi_type_pointer, sizeof(void *), true},
    [CALL_STRING] = {&ffi_type_pointer, sizeof(void *), true},
};

_Static_assert(sizeof(size_t) == 8, "call programs are for 64-bit machines");

ffi_type *call_ffi_type(call_type type) {
    return types[type].ffi;
}

bool call_is_integer(call_type type) {
    return type >= CALL_BOOL && type <= CALL_SIZE;
}

bool call_is_unsigned(call_type type) {
    return types[type].is_unsigned;
}

void call_store_integer(call_storage *storage, call_type type, int64_t number) {
    storage->u64 = 0;
    switch (types[type].size) {
    case 1:
        storage->u8 = type == CALL_BOOL ? number != 0 : (uint8_t)number;
        break;
    case 2:
        storage->u16 = (uint16_t)number;
        break;
    case 4:
        storage->u32 = (uint32_t)number;
        break;
    default:
        storage->u64 = (uint64_t)number;
    }
}

int64_t call_load_integer(const call_storage *storage, call_type type) {
    bool is_unsigned = types[type].is_unsigned;
    if (type == CALL_FLOAT || type == CALL_DOUBLE) {
        double number = call_load_floating(storage, type);
        /* From 2^63 (about 9.22e18) on, and for NaN, the conversion would be undefined. */
        return number > -9.2e18 && number < 9.2e18 ? (int64_t)number : 0;
    }
    switch (types[type].size) {
    case 1:
        return is_unsigned ? storage->u8 : (int8_t)storage->u8;
    case 2:
        return is_unsigned ? storage->u16 : (int16_t)storage->u16;
    case 4:
        return is_unsigned ? (int64_t)storage->u32 : (int32_t)storage->u32;
    default:
        return (int64_t)storage->u64;
    }
}

double call_load_floating(const call_storage *storage, call_type type) {
    if (type == CALL_FLOAT)
        return (double)storage->f32;
    if (type == CALL_DOUBLE)
        return storage->f64;
    int64_t number = call_load_integer(storage, type);
    return types[type].is_unsigned ? (double)(uint64_t)number : (double)number;
}

static void store_floating(call_storage *storage, call_type type, double number) {
    storage->u64 = 0;
    if (type == CALL_FLOAT)
        storage->f32 = (float)number;
    else
        storage->f64 = number;
}

/* Whether the value, without a fraction, is in the range of an integer type. Addresses always fit. */
static bool fits(const call_storage *value, call_type from, call_type type) {
    if (!call_is_integer(type) || from == CALL_POINTER || from == CALL_STRING)
        return true;
    unsigned bits = type == CALL_BOOL ? 1 : types[type].size * 8u;
    bool is_unsigned = types[type].is_unsigned;
    if (from == CALL_FLOAT || from == CALL_DOUBLE) {
        double number = call_load_floating(value, from), limit = 1;
        for (unsigned i = 0; i < bits - !is_unsigned; i++)
            limit *= 2;
        /* False for NaN, too. call_load_integer supports only what is below 2^63. */
        return number > (is_unsigned ? -1 : -limit - 1) && number < limit && number < 9.2e18 &&
               number > -9.2e18;
    }
    int64_t number = call_load_integer(value, from);
    if (number < 0 && !types[from].is_unsigned)
        return !is_unsigned && (bits == 64 || number >= -(INT64_C(1) << (bits - 1)));
    unsigned value_bits = bits - !is_unsigned;
    return value_bits >= 64 || (uint64_t)number < UINT64_C(1) << value_bits;
}

bool call_store_value(const call_program *program, call_storage *storage, call_type type,
                      const call_value *value) {
    bool is_floating = type == CALL_FLOAT || type == CALL_DOUBLE;
    storage->u64 = 0;
    switch (value->kind) {
    case CALL_INTEGER:
        if (is_floating)
            store_floating(storage, type, (double)value->integer);
        else
            call_store_integer(storage, type, value->integer);
        return true;
    case CALL_FLOATING:
        if (!is_floating)
            return false;
        store_floating(storage, type, value->floating);
        return true;
    case CALL_NULL:
        return true;
    case CALL_TEXT:
        if (type != CALL_STRING && type != CALL_POINTER)
            return false;
        storage->address = (void *)(uintptr_t)value->text;
        return true;
    case CALL_NAME: {
        const call_name *name = &program->names[value->name];
        if (name->state != CALL_LIVE)
            return false;
        if (is_floating) {
            store_floating(storage, type, call_load_floating(&name->value, name->type));
            return true;
        }
        if (!fits(&name->value, name->type, type))
            return false;
        call_store_integer(storage, type, call_load_integer(&name->value, name->type));
        return true;
    }
    }
    return false;
}
