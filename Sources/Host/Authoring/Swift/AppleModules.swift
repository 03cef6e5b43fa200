/// Apple's modules that do not exist on Linux, and the submodules of those that the SDK has.
enum AppleModules {
    /// What to write instead of the import of a module, by its name.
    private static let remedies: [String: String] = [
        "ActivityKit": "Remove it: the host shows the title and the progress of a continued task",
        "AppKit": views,
        "AppTrackingTransparency": behind,
        "AVFoundation": behind,
        "ARKit": behind,
        "Accelerate": behind,
        "BackgroundAssets": "Fetch the files in a processing task that requires the network",
        "CallKit": behind,
        "Charts": views,
        "CloudKit": behind,
        "Cocoa": views,
        "Combine":
            "Use Swift concurrency, or a closure; for 'ObservableObject' and '@Published', write 'import SwiftUI'",
        "CommonCrypto": "Use the package swift-crypto, and write 'import Crypto'",
        "Compression": behind,
        "Contacts": behind,
        "CoreBluetooth": behind,
        "CoreData": "Keep the data in files or in SQLite, or put the import behind '#if canImport(CoreData)'",
        "CoreGraphics": "For CGRect, CGPoint and CGSize, write 'import Foundation'",
        "CoreImage": behind,
        "CoreLocation": behind,
        "CoreML": behind,
        "CoreMotion": behind,
        "CoreServices": behind,
        "CoreSpotlight": behind,
        "CoreTelephony": behind,
        "CryptoKit": "Use the package swift-crypto, and write 'import Crypto'",
        "Darwin": "Write 'import Foundation', which includes the C library",
        "DeviceCheck": behind,
        "EventKit": behind,
        "GameKit": behind,
        "HealthKit": behind,
        "ImageIO": behind,
        "Intents": behind, "AppIntents": behind,
        "JavaScriptCore": behind,
        "LocalAuthentication": behind,
        "MapKit": behind,
        "MediaPlayer": behind,
        "MessageUI": views,
        "Metal": behind,
        "MetricKit": "Remove it: 'bgtask show' has a report of each launch",
        "MobileCoreServices": behind,
        "NaturalLanguage": behind,
        "ObjectiveC": "Remove it: Linux has no Objective-C",
        "Photos": behind, "PhotosUI": views,
        "PushKit": "Send silent pushes with 'bgtask push'",
        "QuartzCore": behind,
        "SafariServices": views,
        "Security": "Keep secrets in a file that the sandbox of the manifest permits",
        "Speech": behind,
        "StoreKit": behind,
        "SwiftData":
            "Keep the data in files or in SQLite, or put the import behind '#if canImport(SwiftData)'",
        "SystemConfiguration":
            "Set requiresNetworkConnectivity on the request: the host then starts the task while there is a network",
        "UniformTypeIdentifiers": behind,
        "UserNotificationsUI": views,
        "Vision": behind,
        "WatchConnectivity": behind,
        "WatchKit": views,
        "WebKit": views,
        "WidgetKit": "Put it behind '#if canImport(WidgetKit)': there are no widgets to reload",
    ]
    private static let behind = "Put it, and the code that uses it, behind '#if canImport(...)'"
    private static let views =
        "Keep windows and views out of the plugin's target, or put them behind '#if canImport(...)'"

    /// The names of the modules that do not exist on Linux.
    static let missing = Set(remedies.keys)

    /// What to write instead of an import; `nil` if the module is not known to be missing.
    static func remedy(_ module: String) -> String? {
        remedies[module]?.replacing("(...)", with: "(\(module))")
    }

    /// The submodules of the SDK's modules that stand for Apple's headers; see the SDK's `module.modulemap`.
    static let submodules: [String: Set<String>] = [
        "os": ["activity", "lock", "log", "signpost"],
        "UIKit": [
            "UIApplication", "UIDevice", "UIResponder", "UIScene", "UISceneDefinitions", "UISceneOptions",
            "UISceneSession", "UIWindow", "UIWindowScene",
        ],
    ]

    /// The types that are in a module of their own on Linux, by name.
    static let moved: [String: String] = [
        "URLSession": "FoundationNetworking", "URLSessionConfiguration": "FoundationNetworking",
        "URLSessionDelegate": "FoundationNetworking", "URLSessionTask": "FoundationNetworking",
        "URLSessionTaskDelegate": "FoundationNetworking", "URLSessionDataTask": "FoundationNetworking",
        "URLSessionDownloadTask": "FoundationNetworking",
        "URLSessionDownloadDelegate": "FoundationNetworking",
        "URLSessionUploadTask": "FoundationNetworking", "URLSessionDataDelegate": "FoundationNetworking",
        "URLRequest": "FoundationNetworking", "HTTPURLResponse": "FoundationNetworking",
        "URLResponse": "FoundationNetworking", "URLCache": "FoundationNetworking",
        "URLCredential": "FoundationNetworking", "HTTPCookieStorage": "FoundationNetworking",
        "XMLParser": "FoundationXML", "XMLParserDelegate": "FoundationXML", "XMLDocument": "FoundationXML",
    ]
}
