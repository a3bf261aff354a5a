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
  std::uint64_t queueBytes = kQueueBytes;  ///< max bytes of waiting events; a single event may exceed this
                                           ///< limit
  bool keepEvents = false;                 ///< keeps every event in memory, without limit, for events()
  std::function<std::int64_t()> clock;     ///< nanoseconds, never decreasing; empty: the steady clock
};

/// Gives every event of a session a number and a time. Passes the events on to memory (keepEvents), to a file
/// (startFile), and to a bounded queue for one consumer (drain). The sender never waits for the consumer. The
/// sender waits for listeners, and for the file, which sometimes compresses a chunk.
///
/// Guarantees for the consumer:
/// - Memory and file get every event. Only the queue may lose events.
/// - Events come in the order of their numbers. Without a gap in the numbers, nothing is missing.
/// - When the queue is full, detail events are dropped first: lookups, all events about blocks, forward
///   passes and attention mass. No detail events are queued until the next drain.
/// - That drain ends with one Snapshot. The Snapshot has the pool after all events so far. The Snapshot also
///   has the number of the last event, and the number of lost events. Other events before the Snapshot are
///   delivered.
/// - If the queue is still full, tokens and pieces of text are dropped next, because StepFinished has the
///   whole text. Then the oldest other events are dropped.
/// - The results of a run (StepFinished, StepMetrics, RunFinished) are lost only if too many such events
///   follow. The limit is queueCapacity / 2 events or queueBytes / 2 bytes, without detail events and tokens.
///
/// Any thread may call any function. Events of several senders are numbered in the order of arrival.
class Recorder final : public Sink {
 public:
  explicit Recorder(RecorderOptions options = {});
  ~Recorder() override;  ///< completes the file
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  std::uint64_t send(RunId run, RequestId request, const NodePath& node, Payload payload) override;

  /// Calls `listener` for every later event, in order, on the sending thread. The sender waits for the
  /// listener. Use this for a listener that must not miss an event, such as a server. The listener must
  /// return soon, must not throw, and must not call the recorder. The new listener replaces the previous
  /// listener, which is not running after the return. An empty function removes the listener.
  void setListener(std::function<void(const Event&)> listener);

  /// Adds another listener. The result identifies it for removeListener().
  std::uint64_t addListener(std::function<void(const Event&)> listener);
  /// Removes a listener. The listener is not running after the return. Does nothing for an unknown listener.
  void removeListener(std::uint64_t id);

  /// Adds a function that changes every later event before the event is kept, written or queued. Such
  /// functions remove texts from traces. The functions run in the order in which they were added. Listeners
  /// get the unchanged events. The rules of setListener() apply to `redact`. A redaction cannot be removed.
  void addRedaction(std::function<void(Event&)> redact);

  /// Appends the waiting events to `into` and returns their number.
  std::size_t drain(std::vector<Event>& into);

  /// Starts a file. Ends a current file as finishFile() does. In the middle of a session, the file begins
  /// with a SessionStarted event. This event has the pool's current state and the number of the previous
  /// event. Throws Failure if the file cannot be written.
  void startFile(OutputFile file, const TraceHeader& header, const TraceWriteOptions& options = {});
  void startFile(const std::filesystem::path& path, const TraceHeader& header,
                 const TraceWriteOptions& options = {});

  /// Completes the file. Returns the first error of writing the file. After such an error, the session
  /// continues without a file. Does nothing without a file.
  std::optional<Error> finishFile();

  /// Passes all events to the operating system, so that the events outlive the program. The recorder also
  /// passes all events on at the end of each run. Otherwise, a killed program loses up to one second of
  /// events. Returns the first error of writing the file.
  std::optional<Error> flushFile();

  /// Ends the file and removes the file.
  void discardFile();

  /// Returns all events so far, if keepEvents is set; otherwise none.
  std::vector<Event> events() const;

  /// Returns the pool according to the events.
  PoolState pool() const;

  std::uint64_t lastSequence() const;

  /// Returns the error of the first event that contradicted earlier events. Such an event is a defect of the
  /// engine. The pool and later snapshots are wrong after such an event.
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
  std::optional<SessionStarted> m_sessionStarted;  ///< the event without its pool
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
  std::uint64_t m_queueBytes = 0;  ///< bytes of all events in m_queue
  PoolReplay m_pool;
  std::optional<Error> m_contradiction;
  std::uint64_t m_queuedSequence = 0;  ///< sequence number of the last event in m_pool
  std::int64_t m_queuedTime = 0;
  bool m_shedding = false;  ///< detail events are not queued until the next drain
  std::uint64_t m_lost = 0;
};

}  // namespace spanscope::trace
