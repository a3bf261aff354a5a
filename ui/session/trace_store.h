// SPDX-License-Identifier: GPL-3.0-or-later
// A session's trace in memory: every event, what views look up among the events, and the state after any
// event.
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

/// Where events stand among all events of a trace, by their kinds.
class EventIndices {
 public:
  /// Of one kind the places from 0, ascending; empty for a kind that is not indexed so
  /// (engine/trace/event_rows).
  template <class Payload>
  const std::vector<std::size_t>& of() const {
    return m_ofKind[trace::kEventKind<Payload>];
  }
  /// A place that was added before, or one behind all of them.
  template <class Payload>
  void add(std::size_t index) {
    std::vector<std::size_t>& places = m_ofKind[trace::kEventKind<Payload>];
    if (places.empty() || places.back() != index) places.push_back(index);
  }

 private:
  std::array<std::vector<std::size_t>, trace::kEventKinds> m_ofKind;
};

/// Where the events of one request stand.
struct RequestEvents : EventIndices {
  RunId run = 0;
};

class TraceStore {
 public:
  /// Reads a whole trace file. Throws Failure.
  static TraceStore open(const std::filesystem::path& path);

  /// Appends the next event. If the event contradicts those before it, it is left out, and contradictions()
  /// gets an error.
  void append(trace::Event event);

  std::size_t size() const { return m_events.size(); }
  /// About how much memory the events take.
  std::uint64_t bytes() const;
  /// About how much memory the kept states take in addition to the events; parts that states share count
  /// once.
  std::uint64_t markBytes() const { return m_markBytes; }
  /// The newest events that take at most `bytes` bytes, as a trace that begins in the middle and says how
  /// many events are missing. If a run starts among these events, the part begins there. Returns the whole
  /// trace if it takes no more than `bytes`.
  TraceStore newestPart(std::uint64_t bytes) const;

  const trace::Event& event(std::size_t index) const { return m_events[index]; }
  const std::vector<trace::Event>& events() const { return m_events; }

  /// The state after the first `count` events. The newest state costs nothing. For any other state, the
  /// events since the kept state before it are applied again; a bound on memory limits how many states are
  /// kept. The reference is valid until the next call of stateAt or append.
  const trace::Replay& stateAt(std::size_t count) const;
  const trace::Replay& newest() const { return m_newest; }
  /// The event with which a trace of the events from `first` on begins. It tells the session and its pool at
  /// that point, and takes the place of the event before. 0 < first ≤ size().
  trace::Event beginningAt(std::size_t first) const;

  /// The index of the event with this sequence number.
  std::optional<std::size_t> indexOf(std::uint64_t sequence) const;
  /// Number of events not later than `time` (nanoseconds).
  std::size_t countAt(std::int64_t time) const;

  const RequestEvents* request(RequestId request) const;  ///< nullptr: none
  /// Where the events of one kind stand that is indexed over the whole session.
  template <class Payload>
  const std::vector<std::size_t>& indicesOf() const {
    return m_ofSession.of<Payload>();
  }
  /// Where runs start.
  const std::vector<std::size_t>& runs() const { return indicesOf<trace::RunStarted>(); }
  /// Index of the RunStarted of this run; nothing: it is not here.
  std::optional<std::size_t> startOf(RunId run) const;
  /// So many events tell of the trace until this run has ended and, where no other run was in progress then,
  /// of what followed it until the next run. All events where its end is not here.
  std::size_t endOf(RunId run) const;
  /// The layout of a run, whenever the trace told it; nullptr: the exact layout.
  const trace::LayoutChosen* layoutOf(RunId run) const;
  /// The newest event of a job of this kind with these arguments among the first `count` events. nullptr:
  /// there is none.
  const trace::JobEnded* lastJob(const std::string& kind, const trace::PackedValue& arguments,
                                 std::size_t count) const;
  /// The number of events up to and with the newest end of a job among the first `count` events. 0: no job
  /// has ended there.
  std::size_t lastJobEnd(std::size_t count) const;
  /// The result of this kind that jobResult() read last, and what it was read from. Only jobResult() uses
  /// this.
  std::pair<trace::PackedValue, std::shared_ptr<const void>>& jobResultMemo(const std::string& kind) const {
    return m_jobResults[kind];
  }
  const std::vector<Error>& contradictions() const { return m_contradictions; }

  /// The last result of answerShares(), may be null. Only answerShares() uses this.
  std::shared_ptr<const AnswerShares>& answerSharesMemo() const { return m_answerShares; }

 private:
  void note(std::size_t index);
  /// Keeps the newest state, which is the state after `count` events, if the last kept state is far behind.
  void mark(std::size_t count);
  void thinMarks();

  std::vector<trace::Event> m_events;
  std::uint64_t m_heapBytes = 0;  ///< memory of the events in addition to the list itself
  std::uint64_t m_missing = 0;    ///< older events of the session that were left out
  trace::Replay m_newest;
  struct Mark {
    std::size_t count = 0;
    trace::Replay state;
    std::uint64_t bytes = 0;  ///< in addition to the mark before
  };
  std::vector<Mark> m_marks;          ///< ascending
  std::size_t m_markDistance = 1024;  ///< events between marks; doubles when there are many
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
