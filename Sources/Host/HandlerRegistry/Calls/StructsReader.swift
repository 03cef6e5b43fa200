import StrictFiles
import TaskModel

/// A struct that a call declares: where its members are.
struct CallStruct {
    /// A member: the number of bytes before it, and its type.
    struct Member {
        let offset: Int
        let type: CallType
    }

    /// The number of bytes of the struct.
    let size: Int
    let members: [String: Member]
}

/// Reads `structs:`, and the members that arguments and steps name.
struct StructsReader {
    /// The greatest size of a struct, in bytes: offsets are encoded in four bytes, and this is far below.
    static let maximumSize = 1 << 20

    let problems: ProblemList

    /// Reads the declarations: `{entry: {size: 24, members: {name: {offset: 8, type: string}}}}`.
    func structs(_ node: YAMLNode) -> [String: CallStruct] {
        guard let fields = Fields(node, "structs", keys: nil, problems) else { return [:] }
        var structs: [String: CallStruct] = [:]
        for (name, place, value) in fields.all {
            checkName(name, "a struct", at: place)
            structs[name] = structure(value)
        }
        return structs
    }

    private func structure(_ node: YAMLNode) -> CallStruct? {
        guard let fields = Fields(node, "a struct", keys: ["size", "members"], problems) else { return nil }
        let size = fields.required("size", "a struct", problems)?
            .integer("size", in: 1...Self.maximumSize, problems)
        guard let membersNode = fields.required("members", "a struct", problems),
            let entries = Fields(membersNode, "members", keys: nil, problems), let size
        else { return nil }
        var members: [String: CallStruct.Member] = [:]
        for (name, place, value) in entries.all {
            checkName(name, "a member", at: place)
            guard let entry = Fields(value, "a member", keys: ["offset", "type"], problems),
                let (offset, type) = position(entry, "a member")
            else { continue }
            if offset + type.byteCount > size {
                problems.error(
                    place,
                    "'\(name)' ends at byte \(offset + type.byteCount), but the struct has \(size) bytes",
                    "Correct its offset, or the size of the struct")
            }
            members[name] = CallStruct.Member(offset: offset, type: type)
        }
        return CallStruct(size: size, members: members)
    }

    /// Reads `{of: NAME, offset: 8, type: string}` or `{of: NAME, member: STRUCT.MEMBER}`.
    func field(
        _ node: YAMLNode, _ what: String, _ structs: [String: CallStruct], _ names: CallNames
    ) -> CallField? {
        let keys = ["of", "offset", "type", "member"]
        guard let fields = Fields(node, what, keys: keys, problems),
            let of = fields.required("of", what, problems), let name = of.text("of", problems),
            let meaning = names.use(name, at: of.place)
        else { return nil }
        if case .value(let type) = meaning, !type.isPointer {
            problems.error(
                of.place, "'\(name)' is not a pointer, so it has no members",
                "Name a pointer, a buffer or a file")
        }
        guard let memberNode = fields["member"] else {
            return position(fields, what).map { CallField(of: name, offset: $0.offset, type: $0.type) }
        }
        for key in ["offset", "type"] {
            if let place = fields[key]?.place {
                problems.error(place, "'\(key)' can't be used with 'member'", "Remove one of them")
            }
        }
        return member(memberNode, structs).map { CallField(of: name, offset: $0.offset, type: $0.type) }
    }

    private func member(_ node: YAMLNode, _ structs: [String: CallStruct]) -> CallStruct.Member? {
        guard let text = node.text("member", problems) else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else {
            problems.error(
                node.place, "not a member of a struct: '\(text.shortened)'", "Write STRUCT.MEMBER")
            return nil
        }
        guard let structure = structs[parts[0]] else {
            problems.error(
                node.place, "'structs' declares no struct '\(parts[0].shortened)'",
                Nearest.advice(for: parts[0], in: structs.keys.sorted(), noun: "structs"))
            return nil
        }
        guard let member = structure.members[parts[1]] else {
            problems.error(
                node.place, "the struct '\(parts[0])' has no member '\(parts[1].shortened)'",
                Nearest.advice(for: parts[1], in: structure.members.keys.sorted(), noun: "members"))
            return nil
        }
        return member
    }

    /// Returns the types of the members of a struct, which is passed or returned by value.
    ///
    /// Its members must be all of it, because registers hold the members and not the bytes.
    func members(of node: YAMLNode, _ structs: [String: CallStruct]) -> [CallType]? {
        guard let name = node.text("struct", problems) else { return nil }
        guard let structure = structs[name] else {
            problems.error(
                node.place, "'structs' declares no struct '\(name.shortened)'",
                Nearest.advice(for: name, in: structs.keys.sorted(), noun: "structs"))
            return nil
        }
        let members = structure.members.values.sorted { $0.offset < $1.offset }
        var end = 0
        var isWhole = (1...StepReader.maximumListed).contains(members.count)
        for member in members {
            let size = member.type.byteCount
            isWhole = isWhole && member.offset == (end + size - 1) / size * size
            end = member.offset + size
        }
        let alignment = members.map(\.type.byteCount).max() ?? 1
        guard isWhole, structure.size == (end + alignment - 1) / alignment * alignment else {
            problems.error(
                node.place, "the members of '\(name)' are not all of its \(structure.size) bytes",
                "To pass it by value, list every member; each element of an array is a member of its own")
            return nil
        }
        return members.map(\.type)
    }

    private func position(_ fields: Fields, _ what: String) -> (offset: Int, type: CallType)? {
        let offset = fields.required("offset", what, problems)?
            .integer("offset", in: 0...Self.maximumSize, problems)
        let type = fields.required("type", what, problems).flatMap {
            CallTypeReader(problems: problems).type($0, allowing: .arguments)
        }
        guard let offset, let type else { return nil }
        return (offset, type)
    }

    private func checkName(_ name: String, _ what: String, at place: Place) {
        guard !PayloadText.isKey(name) else { return }
        problems.error(
            place, "not a valid name of \(what): '\(name.shortened)'",
            "Use a letter, then letters, digits and _, at most 64 in all")
    }
}

extension CallType {
    /// The number of bytes of a value on 64-bit Linux.
    var byteCount: Int {
        switch self {
        case .void: 0
        case .bool: 1
        case .float: 4
        case .double, .pointer, .string: 8
        default: (integerFormat?.bits ?? 64) / 8
        }
    }
}
