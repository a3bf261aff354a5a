// SPDX-License-Identifier: GPL-3.0-or-later
// The trace of a session in memory. The store has every event, indices of events for views, and the state
// after any event.
#pragma once

#include "engine/base/error.h"
#include "engine/trace/event.h"
#include "engine/trace/event_kind.h"
#include "engine/trace/replay.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::ui {

struct AnswerShares;

/// The indices of events in a trace, by kind of event.
class EventIndices {
 public:
  /// Returns the indices of one kind, from 0, ascending. Empty if this kind has no such index
  /// (engine/trace/event_rows).
  template <class Payload>
  const std::vector<std::size_t>& of() const {
    return m_ofKind[trace::kEventKind<Payload>];
  }
  /// Adds an index, which must be equal to or larger than the last one.
  template <class Payload>
  void add(std::size_t index) {
    std::vector<std::size_t>& places = m_ofKind[trace::kEventKind<Payload>];
    if (places.empty() || places.back() != index) places.push_back(index);
  }

 private:
  std::array<std::vector<std::size_t>, trace::kEventKinds> m_ofKind;
};

/// The indices of the events of one request.
struct RequestEvents : EventIndices {
  RunId run = 0;
};

class TraceStore {
 public:
  /// Reads a whole trace file. Throws Failure.
  static TraceStore open(const std::filesystem::path& path);

  /// Appends the next event. An event that contradicts earlier events is left out, and contradictions() gets
  /// an error.
  void append(trace::Event event);

  std::size_t size() const { return m_events.size(); }
  /// Returns the approximate memory of the events.
  std::uint64_t bytes() const;
  /// Returns the approximate memory of the kept states in addition to the events. Parts that states share
  /// count once.
  std::uint64_t markBytes() const { return m_markBytes; }
  /// Returns the newest events that take at most `bytes` bytes, as a trace that begins in the middle. The
  /// returned trace reports the number of missing events. If a run starts among the returned events, the
  /// trace begins with this run. Returns the whole trace if it takes no more than `bytes`.
  TraceStore newestPart(std::uint64_t bytes) const;

  const trace::Event& event(std::size_t index) const { return m_events[index]; }
  const std::vector<trace::Event>& events() const { return m_events; }

  /// Returns the state after the first `count` events. The newest state costs nothing. For any other state,
  /// the events since the last kept state before it are applied again. A limit on memory bounds the number of
  /// kept states. The reference is valid until the next call of stateAt or append.
  const trace::Replay& stateAt(std::size_t count) const;
  const trace::Replay& newest() const { return m_newest; }
  /// Returns the first event of a trace of the events from `first` on. The returned event has the session and
  /// its pool at that point, and replaces the event before `first`. 0 < first ≤ size().
  trace::Event beginningAt(std::size_t first) const;

  /// Returns the index of the event with this sequence number.
  std::optional<std::size_t> indexOf(std::uint64_t sequence) const;
  /// Returns the number of events that are not later than `time` (nanoseconds).
  std::size_t countAt(std::int64_t time) const;

  const RequestEvents* request(RequestId request) const;  ///< nullptr: none.
  /// Returns the indices of the events of one kind that is indexed for the whole session.
  template <class Payload>
  const std::vector<std::size_t>& indicesOf() const {
    return m_ofSession.of<Payload>();
  }
  /// The indices of the starts of runs.
  const std::vector<std::size_t>& runs() const { return indicesOf<trace::RunStarted>(); }
  /// Returns the index of the RunStarted of this run; nothing: the run does not start here.
  std::optional<std::size_t> startOf(RunId run) const;
  /// Returns the number of events up to the end of this run. If no other run was in progress then, later
  /// events also count. They end at the next run, or where the cache was emptied before this run. If the end
  /// of the run is not in the trace, returns the number of all events.
  std::size_t endOf(RunId run) const;
  /// Returns the layout of a run, from any place in the trace; nullptr: the exact layout.
  const trace::LayoutChosen* layoutOf(RunId run) const;
  /// Returns the newest event of a job with this kind and these arguments, among the first `count` events.
  /// Returns nullptr if there is none.
  const trace::JobEnded* lastJob(const std::string& kind, const trace::PackedValue& arguments,
                                 std::size_t count) const;
  /// Returns the number of events up to and including the newest end of a job, among the first `count`
  /// events. 0: no job has ended there.
  std::size_t lastJobEnd(std::size_t count) const;
  /// The last result of this kind that jobResult() read, and its packed source. Only jobResult() uses this
  /// memo.
  std::pair<trace::PackedValue, std::shared_ptr<const void>>& jobResultMemo(const std::string& kind) const {
    return m_jobResults[kind];
  }
  const std::vector<Error>& contradictions() const { return m_contradictions; }

  /// The last result of answerShares(); may be null. Only answerShares() uses this memo.
  std::shared_ptr<const AnswerShares>& answerSharesMemo() const { return m_answerShares; }

 private:
  void note(std::size_t index);
  /// Keeps the newest state, after `count` events, if enough events followed the last kept state.
  void mark(std::size_t count);
  void thinMarks();

  std::vector<trace::Event> m_events;
  std::uint64_t m_heapBytes = 0;  ///< memory of the events in addition to the list itself
  std::uint64_t m_missing = 0;    ///< number of older events of the session that were left out
  trace::Replay m_newest;
  struct Mark {
    std::size_t count = 0;
    trace::Replay state;
    std::uint64_t bytes = 0;  ///< in addition to the mark before
  };
  std::vector<Mark> m_marks;          ///< ascending
  std::size_t m_markDistance = 1024;  ///< events between marks; doubles when there are many marks
  std::size_t m_nextMark = 1024;
  std::uint64_t m_markBytes = 0;  ///< memory of all marks
  mutable std::optional<Mark> m_cursor;
  EventIndices m_ofSession;
  std::map<RunId, EventIndices> m_ofRuns;
  std::map<RequestId, RequestEvents> m_requests;
  std::vector<Error> m_contradictions;
  mutable std::shared_ptr<const AnswerShares> m_answerShares;
  mutable std::map<std::string, std::pair<trace::PackedValue, std::shared_ptr<const void>>> m_jobResults;
};

}  // namespace spanscope::ui
