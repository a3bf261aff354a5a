// SPDX-License-Identifier: GPL-3.0-or-later
// Records the events of a session. Open this file when events are lost or out of order.
#pragma once

#include "engine/base/error.h"
#include "engine/trace/event.h"
#include "engine/trace/pool_replay.h"
#include "engine/trace/sink.h"
#include "engine/trace/trace_file.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace spanscope::trace {

/// Default limit of memory for events that wait for the consumer.
inline constexpr std::uint64_t kQueueBytes = 64ULL << 20;

struct RecorderOptions {
  std::uint32_t session = 1;
  std::size_t queueCapacity = 65536;       ///< events that wait for the consumer, at least 16
  std::uint64_t queueBytes = kQueueBytes;  ///< max bytes of waiting events; a single event may exceed it
  bool keepEvents = false;                 ///< keep every event in memory, without limit, for events()
  std::function<std::int64_t()> clock;     ///< nanoseconds, never decreasing; empty: the steady clock
};

/// Numbers and times every event of a session. Passes the events on into memory (keepEvents), into a file
/// (startFile), and into a bounded queue for one consumer (drain). The sender never waits for the consumer.
/// It waits for the file, which sometimes compresses a chunk, and for a listener.
///
/// Guarantees for the consumer:
/// - Memory and file get every event. Only the queue may lose some.
/// - Events come in the order of their numbers. Without a gap in the numbers, nothing is missing.
/// - When the queue is full, events of detail are dropped first: lookups, all events about blocks, passes and
///   attention mass. No more of them are queued until the next drain.
/// - That drain ends with one Snapshot. The Snapshot has the pool after all events so far. It has the number
///   of the last event, and the number of lost events. Other events between are delivered.
/// - If the queue is still full, tokens and pieces of text are dropped next. StepFinished has the whole text.
///   Then the oldest other events are dropped.
/// - The results of a run (StepFinished, StepMetrics, RunFinished) are lost only if too many such events
///   follow. The limit is queueCapacity / 2 events or queueBytes / 2 bytes, without detail and tokens.
///
/// Any thread may call any function. Several senders are numbered in the order of arrival.
class Recorder final : public Sink {
 public:
  explicit Recorder(RecorderOptions options = {});
  ~Recorder() override;  ///< completes the file
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  std::uint64_t send(RunId run, RequestId request, const NodePath& node, Payload payload) override;

  /// Calls `listener` for every event from now on, in order, on the sending thread, which waits. This is for
  /// listeners that may miss no event, such as a server. It must return soon, must not throw, and must not
  /// call the recorder. It replaces the previous listener, which is not running after the return. An empty
  /// listener ends this.
  void setListener(std::function<void(const Event&)> listener);

  /// Adds another listener beside that one. The result identifies it for removeListener().
  std::uint64_t addListener(std::function<void(const Event&)> listener);
  /// Removes a listener. It is not running after the return. Does nothing for an unknown listener.
  void removeListener(std::uint64_t id);

  /// Calls `redact` to change every event from now on before it is kept, written or queued. Such functions
  /// run in the order of their addition. They keep texts out of traces. The listener gets the unchanged
  /// events. The rules of setListener() apply to `redact`. It stays as long as the recorder.
  void addRedaction(std::function<void(Event&)> redact);

  /// Appends the waiting events to `into` and returns their number.
  std::size_t drain(std::vector<Event>& into);

  /// Starts a file. Ends a current file as finishFile does. In the middle of a session, the file begins with
  /// a SessionStarted event. This event has the pool's current state and the number of the event before.
  /// Throws Failure if the file cannot be written.
  void startFile(OutputFile file, const TraceHeader& header, const TraceWriteOptions& options = {});
  void startFile(const std::filesystem::path& path, const TraceHeader& header,
                 const TraceWriteOptions& options = {});

  /// Completes the file. Returns the first error of writing it. The session continued after such an error,
  /// and there is no file. Does nothing without a file.
  std::optional<Error> finishFile();

  /// Passes all events to the system, so that they outlive the program. The end of each run does this too.
  /// Otherwise up to a second of events is lost when the program is killed. Returns the first error of
  /// writing the file.
  std::optional<Error> flushFile();

  /// Ends the file and removes it.
  void discardFile();

  /// Returns all events so far. Empty unless keepEvents.
  std::vector<Event> events() const;

  /// Returns the pool according to the events.
  PoolState pool() const;

  std::uint64_t lastSequence() const;

  /// Returns the first event that contradicted earlier events, which is a defect of the engine. The pool and
  /// snapshots are wrong from there on.
  std::optional<Error> contradiction() const;

 private:
  void write(const Event& event);
  void enqueue(Event event);
  bool isFull(std::uint64_t bytes) const;
  void shed(std::uint64_t bytes);
  template <class Goes>
  void dropWhere(Goes goes);
  std::optional<Error> endFile();

  const RecorderOptions m_options;
  const std::int64_t m_start;

  mutable std::mutex m_sendMutex;  ///< guards numbers, memory and file; taken before m_queueMutex
  std::uint64_t m_sequence = 0;
  std::int64_t m_time = 0;
  std::vector<Event> m_events;
  std::optional<SessionStarted> m_sessionStarted;  ///< without its pool
  std::unique_ptr<TraceWriter> m_writer;
  std::optional<Error> m_fileError;
  std::function<void(const Event&)> m_listener;
  std::map<std::uint64_t, std::function<void(const Event&)>> m_listeners;
  std::uint64_t m_lastListener = 0;
  std::vector<std::function<void(Event&)>> m_redactions;

  mutable std::mutex m_queueMutex;  ///< guards the queue and the pool
  struct Waiting {
    Event event;
    std::uint64_t bytes = 0;
  };
  std::deque<Waiting> m_queue;
  std::uint64_t m_queueBytes = 0;  ///< of all events in it
  PoolReplay m_pool;
  std::optional<Error> m_contradiction;
  std::uint64_t m_queuedSequence = 0;  ///< of the last event that m_pool has seen
  std::int64_t m_queuedTime = 0;
  bool m_shedding = false;  ///< events of detail are not queued until the next drain
  std::uint64_t m_lost = 0;
};

}  // namespace spanscope::trace
