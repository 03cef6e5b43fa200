import Foundation

/// The endpoint of UnifiedPush, which the host announces by a push of its own: `{"unifiedPush": {"endpoint":
/// URL}}`, with `null` when there is none any more.
enum AnnouncedEndpoint {
    /// Why an app has no endpoint any more.
    struct Gone: LocalizedError {
        var errorDescription: String? {
            "The distributor of UnifiedPush gave up the registration of this bundle, so its endpoint is no longer valid."
        }
    }

    /// What a payload announces; `nil` if it is the payload of an ordinary push.
    static func announced(by payload: Data?) -> Result<String, Gone>? {
        guard let payload, let object = try? JSONSerialization.jsonObject(with: payload) as? [String: Any],
            let registration = object["unifiedPush"] as? [String: Any]
        else { return nil }
        return (registration["endpoint"] as? String).map(Result.success) ?? .failure(Gone())
    }

    /// Calls the delegate's method about the registration, if a payload announces one.
    ///
    /// - Returns: Whether it does; the payload is then not for the app.
    @MainActor
    static func deliver(
        _ payload: Data?, to delegate: any UIApplicationDelegate, _ application: UIApplication
    ) -> Bool {
        switch announced(by: payload) {
        case .success(let endpoint)?:
            delegate.application(
                application, didRegisterForRemoteNotificationsWithDeviceToken: Data(endpoint.utf8))
        case .failure(let error)?:
            delegate.application(application, didFailToRegisterForRemoteNotificationsWithError: error)
        case nil: return false
        }
        return true
    }
}
