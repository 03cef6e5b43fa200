public import Foundation

/// A value in `UserDefaults`, which is kept for the next launch.
@propertyWrapper
public struct AppStorage<Value> {
    private let store: UserDefaults
    private let read: (UserDefaults) -> Value
    private let write: (UserDefaults, Value) -> Void

    private init(
        _ store: UserDefaults?, read: @escaping (UserDefaults) -> Value,
        write: @escaping (UserDefaults, Value) -> Void
    ) {
        self.store = store ?? .standard
        self.read = read
        self.write = write
    }

    /// The present value: the stored one, or the default value if none of the type is stored.
    public var wrappedValue: Value {
        get { read(store) }
        nonmutating set { write(store, newValue) }
    }

    /// A reference to the value.
    public var projectedValue: Binding<Value> {
        Binding {
            wrappedValue
        } set: {
            wrappedValue = $0
        }
    }
}

extension AppStorage {
    /// Values that `UserDefaults` stores as they are.
    private init(plain key: String, _ value: Value, _ store: UserDefaults?) {
        self.init(store) {
            $0.object(forKey: key) as? Value ?? value
        } write: {
            $0.set($1, forKey: key)
        }
    }

    private init<Plain>(optional key: String, _ store: UserDefaults?) where Value == Plain? {
        self.init(store) {
            $0.object(forKey: key) as? Plain
        } write: { store, value in
            if let value { store.set(value, forKey: key) } else { store.removeObject(forKey: key) }
        }
    }

    private init<Raw>(raw key: String, _ value: Value, _ store: UserDefaults?)
    where Value: RawRepresentable<Raw> {
        self.init(store) {
            ($0.object(forKey: key) as? Raw).flatMap(Value.init(rawValue:)) ?? value
        } write: {
            $0.set($1.rawValue, forKey: key)
        }
    }

    /// A Boolean.
    ///
    /// - Parameters:
    ///   - wrappedValue: The value while none is stored.
    ///   - key: The key in the defaults.
    ///   - store: The defaults; `nil` selects the standard ones.
    public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) where Value == Bool {
        self.init(plain: key, wrappedValue, store)
    }

    /// An integer; the parameters are those for a Boolean.
    public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) where Value == Int {
        self.init(plain: key, wrappedValue, store)
    }

    /// A floating-point number; the parameters are those for a Boolean.
    public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) where Value == Double {
        self.init(plain: key, wrappedValue, store)
    }

    /// A text; the parameters are those for a Boolean.
    public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) where Value == String {
        self.init(plain: key, wrappedValue, store)
    }

    /// Bytes; the parameters are those for a Boolean.
    public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) where Value == Data {
        self.init(plain: key, wrappedValue, store)
    }

    /// A date; the parameters are those for a Boolean.
    public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) where Value == Date {
        self.init(plain: key, wrappedValue, store)
    }

    /// A URL; the parameters are those for a Boolean.
    public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) where Value == URL {
        self.init(store) {
            $0.url(forKey: key) ?? wrappedValue
        } write: {
            $0.set($1, forKey: key)
        }
    }

    /// A value that is stored as its integer; the parameters are those for a Boolean.
    public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil)
    where Value: RawRepresentable, Value.RawValue == Int {
        self.init(raw: key, wrappedValue, store)
    }

    /// A value that is stored as its text; the parameters are those for a Boolean.
    public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil)
    where Value: RawRepresentable, Value.RawValue == String {
        self.init(raw: key, wrappedValue, store)
    }

    /// A Boolean, or `nil` while none is stored.
    ///
    /// - Parameters:
    ///   - key: The key in the defaults.
    ///   - store: The defaults; `nil` selects the standard ones.
    public init(_ key: String, store: UserDefaults? = nil) where Value == Bool? {
        self.init(optional: key, store)
    }

    /// An integer, or `nil` while none is stored; the parameters are those for a Boolean.
    public init(_ key: String, store: UserDefaults? = nil) where Value == Int? {
        self.init(optional: key, store)
    }

    /// A floating-point number, or `nil` while none is stored; the parameters are those for a Boolean.
    public init(_ key: String, store: UserDefaults? = nil) where Value == Double? {
        self.init(optional: key, store)
    }

    /// A text, or `nil` while none is stored; the parameters are those for a Boolean.
    public init(_ key: String, store: UserDefaults? = nil) where Value == String? {
        self.init(optional: key, store)
    }

    /// Bytes, or `nil` while none are stored; the parameters are those for a Boolean.
    public init(_ key: String, store: UserDefaults? = nil) where Value == Data? {
        self.init(optional: key, store)
    }

    /// A date, or `nil` while none is stored; the parameters are those for a Boolean.
    public init(_ key: String, store: UserDefaults? = nil) where Value == Date? {
        self.init(optional: key, store)
    }
}
