// SPDX-License-Identifier: GPL-3.0-or-later
// A session's trace in memory: every event, what views look up among the events, and the state after any
// event.
#pragma once

#include "engine/base/error.h"
#include "engine/trace/event.h"
#include "engine/trace/replay.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace spanscope::ui {

struct AnswerShares;

/// The events of one request, as indices into all events, from 0.
struct RequestEvents {
  RunId run = 0;
  std::vector<std::size_t> lookups;    ///< BlockLookedUp
  std::vector<std::size_t> loads;      ///< BlockLoaded
  std::vector<std::size_t> passes;     ///< BatchComputed with an entry of this request
  std::vector<std::size_t> tokens;     ///< TokenGenerated
  std::vector<std::size_t> attention;  ///< AttentionMass
  std::vector<std::size_t> segmentAttention;
  std::vector<std::size_t> replays;     ///< AttentionReplayed and the ReplayedMass events after each
  std::vector<std::size_t> recomputed;  ///< TokensRecomputed
  std::vector<std::size_t> fidelity;    ///< FidelityMeasured
  std::vector<std::size_t> teammates;   ///< TeammateAttention
  std::optional<std::size_t> team;      ///< the TeamFormed that names this request
  std::vector<std::size_t> layouts;     ///< LayoutApplied
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
  /// Indices of all events of one kind: log messages, passes, starts of runs, reports of the span store.
  const std::vector<std::size_t>& messages() const { return m_messages; }
  const std::vector<std::size_t>& passes() const { return m_passes; }
  const std::vector<std::size_t>& runs() const { return m_runs; }  ///< RunStarted
  /// Index of the RunStarted of this run; nothing: it is not here.
  std::optional<std::size_t> startOf(RunId run) const;
  /// So many events tell of the trace until this run has ended and, where no other run was in progress then,
  /// of what followed it until the next run. All events where its end is not here.
  std::size_t endOf(RunId run) const;
  const std::vector<std::size_t>& storeReports() const { return m_storeReports; }
  /// The layout of a run, whenever the trace told it; nullptr: the exact layout.
  const trace::LayoutChosen* layoutOf(RunId run) const;
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
  std::map<RequestId, RequestEvents> m_requests;
  std::vector<std::size_t> m_messages;
  std::vector<std::size_t> m_passes;
  std::vector<std::size_t> m_runs;
  std::map<RunId, std::size_t> m_ends;  ///< RunFinished
  std::vector<std::size_t> m_storeReports;
  std::map<RunId, std::size_t> m_layouts;  ///< LayoutChosen
  std::vector<Error> m_contradictions;
  mutable std::shared_ptr<const AnswerShares> m_answerShares;
};

}  // namespace spanscope::ui
