import GRDB
public import TaskModel

extension SQLiteRequestStore {
    /// See ``RequestStore``.
    public func commit(
        _ writes: [StoreWrite], answer: @escaping @Sendable ([Result<StoreAnswer, StoreRefusal>]) -> Void
    ) {
        let bodies = writes.map { write in
            { @Sendable (db: Database) throws -> StoreAnswer in try Self.perform(write, in: db) }
        }
        let file = queue.connection.file
        queue.perform(bodies) { results in
            answer(
                results.map { result in
                    result.mapError { error in
                        if let refusal = error as? SubmissionError { return .submission(refusal) }
                        return .store(StoreError.translating(error, file: file))
                    }
                })
        }
    }

    /// See ``RequestStore``.
    public func note(_ note: StoreNote, of launch: LaunchID, at moment: Moment) {
        queue.keep(note, of: launch, at: moment)
    }

    /// Performs one write in a transaction; if this method throws, only this write is refused.
    private static func perform(_ write: StoreWrite, in db: Database) throws -> StoreAnswer {
        switch write {
        case .accept(let submission, let terms): return .accepted(try accept(submission, terms, in: db))
        case .cancel(let id, let reason, let time):
            return .cancelled(try cancel(id, reason, at: time, in: db))
        case .begin(let id, let terms): return .begun(try begin(id, terms, in: db))
        case .markExpiring(let id, let reason, let explanation):
            try markExpiring(id, reason, explanation, in: db)
            return .done
        case .checkpoint(let id, let bytes): return .saved(try saveCheckpoint(id, bytes, in: db))
        case .end(let ended, let progress, let title, let putBack, let failure):
            return try end(ended, progress, title, putBack, failure, in: db)
        case .remember(let fact):
            try FactRow.write(fact, in: db)
            return .done
        case .saveTransfer(let transfer):
            try TransferRow.write(transfer, in: db)
            return .done
        case .saveTransfers(let transfers):
            for transfer in transfers { try TransferRow.write(transfer, in: db) }
            return .done
        case .removeTransfers(let ids):
            for id in ids { try TransferRow.remove(id, in: db) }
            return .done
        }
    }
}
