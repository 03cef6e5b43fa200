import Foundation

/// The messages of the host's control API that this module uses; see `Documentation/ControlAPI.md`.
enum ControlMessages {
    /// The body of `POST /v1/requests`.
    struct Submission: Encodable {
        var identifier: String
        var earliestBeginDate: String?
        var requiresExternalPower: Bool
        var requiresNetworkConnectivity: Bool
        var payload: String?
        var title: String
        var subtitle: String
        var strategy: String
        var requiresGPU: Bool
        var kind: String

        init(_ facts: RequestFacts) {
            identifier = facts.identifier
            earliestBeginDate = facts.earliestBeginDate.map(ControlMessages.text(of:))
            requiresExternalPower = facts.requiresExternalPower
            requiresNetworkConnectivity = facts.requiresNetworkConnectivity
            payload = facts.payload.map { String(decoding: $0, as: UTF8.self) }
            title = facts.title
            subtitle = facts.subtitle
            strategy = facts.failsUnlessImmediate ? "fail" : "queue"
            requiresGPU = facts.requiresGPU
            kind = "\(facts.kind)"
        }
    }

    /// The body of `POST /v1/cancel`.
    struct Cancellation: Encodable {
        var target: String
    }

    /// A row of `GET /v1/requests`.
    struct Row: Decodable {
        var request: Request
    }

    /// A pending request.
    struct Request: Decodable {
        var request: String
        var identifier: String
        var bundle: String
        var kind: String
        var earliestBeginDate: String?
        var requiresExternalPower: Bool?
        var requiresNetworkConnectivity: Bool?
        var requiresGPU: Bool?
        var strategy: String?
        var title: String?
        var subtitle: String?

        var facts: RequestFacts {
            var facts = RequestFacts(identifier: identifier, kind: ControlMessages.kind(of: kind))
            facts.earliestBeginDate = earliestBeginDate.flatMap(ControlMessages.date(of:))
            facts.requiresExternalPower = requiresExternalPower ?? false
            facts.requiresNetworkConnectivity = requiresNetworkConnectivity ?? false
            facts.requiresGPU = requiresGPU ?? false
            facts.failsUnlessImmediate = strategy == "fail"
            facts.title = title ?? ""
            facts.subtitle = subtitle ?? ""
            return facts
        }
    }

    /// A row of `GET /v1/conditions`.
    struct Condition: Decodable {
        var key: String
        var value: String
    }

    /// The body of an error response.
    struct Problem: Decodable {
        var code: String
        var subject: String
        var finding: String
        var remedy: String
    }

    /// The kind with this name in the control API; `appRefresh` if the name is unknown.
    static func kind(of name: String) -> BackgroundTaskKind {
        switch name {
        case "processing": .processing
        case "continuedProcessing": .continuedProcessing
        case "push": .push
        case "transferEvents": .transferEvents
        case "activity": .activity
        case "appLaunch": .appLaunch
        default: .appRefresh
        }
    }

    static func text(of date: Date) -> String {
        Date.ISO8601FormatStyle(includingFractionalSeconds: true).format(date)
    }

    static func date(of text: String) -> Date? {
        try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text)
    }
}

extension MachineConditions {
    /// Reads the conditions from the rows that a host sent; values in these rows have the syntax of `bgtask
    /// conditions set`.
    ///
    /// Conditions that are missing or unknown keep their defaults.
    init(_ rows: [ControlMessages.Condition]) {
        self.init()
        for row in rows {
            switch row.key {
            case "lowPower": isLowPower = row.value == "on"
            case "gpu": hasGPU = row.value == "on"
            case "network": network = Self.networkWords[row.value] ?? .unknown
            case "thermal": thermal = Self.thermalWords.firstIndex(of: row.value) ?? 0
            case "power":
                let words = row.value.split(separator: ":")
                power = words.first.flatMap { Self.powerWords[String($0)] } ?? .unknown
                battery = words.count > 1 ? Int(words[1].dropLast()) : nil
            default: break
            }
        }
    }

    /// The names of the thermal states; the index of each is its number.
    static let thermalWords = ["nominal", "fair", "serious", "critical"]
    /// The names of the kinds of power in the control API.
    static let powerWords: [String: Power] = [
        "battery": .battery, "charging": .charging, "external": .external,
    ]
    /// The names of the kinds of network in the control API.
    static let networkWords: [String: Network] = [
        "none": .none, "constrained": .constrained, "metered": .metered, "unmetered": .unmetered,
    ]
    static let interfaceWords: [String: Interfaces] = [
        "wifi": .wifi, "cellular": .cellular, "wired": .wired, "other": .other,
    ]
}
