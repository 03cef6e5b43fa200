import BackgroundTasks
import CObjects
import Foundation

/// Makes objects of classes that are known only at run time, because the delegate protocol does not require
/// `init()`.
enum ObjectMaking {
    /// Makes an object with the class's own `init()`.
    static func make<Object>(_ type: Object.Type) -> Object {
        guard let type = type as? NSObject.Type,
            let made = bgtask_objects_make(
                unsafeBitCast(type, to: UnsafeRawPointer.self),
                unsafeBitCast(NSObject.self as NSObject.Type, to: UnsafeRawPointer.self)),
            let object = Unmanaged<NSObject>.fromOpaque(made).takeRetainedValue() as? Object
        else {
            misuse(
                "NSInternalInconsistencyException",
                "The delegate \(type) can't be made: let its class inherit from NSObject or UIResponder.")
        }
        return object
    }
}
