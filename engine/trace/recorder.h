// SPDX-License-Identifier: GPL-3.0-or-later
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

/// Memory that events may take while they wait for the consumer, unless said otherwise.
inline constexpr std::uint64_t kQueueBytes = 64ULL << 20;

struct RecorderOptions {
  std::uint32_t session = 1;
  std::size_t queueCapacity = 65536;       ///< events that wait for the consumer, at least 16
  std::uint64_t queueBytes = kQueueBytes;  ///< and the memory they may take; one event may take more
  bool keepEvents = false;                 ///< keep every event in memory, without limit, for events()
  std::function<std::int64_t()> clock;     ///< nanoseconds, never decreasing; empty: the steady clock
};

/// Takes every event of a session, numbers and times it, and passes it on: into memory
/// (keepEvents), into a file (startFile), and into a bounded queue for one consumer (drain). The sender never
/// waits for the consumer; it does wait for the file, which costs it a compressed chunk now and then, and for
/// a listener.
///
/// What the consumer can rely on:
/// - Memory and file get every event. Only the queue ever loses some.
/// - Events come in the order of their numbers. As long as numbers follow each other, nothing is missing.
/// - When the queue is full, by events or by bytes, events of detail go first: lookups, everything about
/// blocks, passes and attention mass.
///   Until the next drain no more of them are queued, and that drain ends with one Snapshot: the pool as it
///   is after all events so far, carrying the number of the last of them, and how many were lost since the
///   Snapshot before. The events between (runs, plans, steps, span tables, admissions, tokens, metrics,
///   messages) are delivered.
/// - If the queue fills up even so, tokens and pieces of text go next (StepFinished has the whole text), then
/// the oldest of the
/// rest. So
///   as long as the last queueCapacity / 2 events, or queueBytes / 2 bytes, that are neither detail nor
///   tokens hold them, the results of a run (StepFinished, StepMetrics, RunFinished) are never lost.
///
/// Any thread may call any function; several senders are numbered in the order in which they come.
class Recorder final : public Sink {
 public:
  explicit Recorder(RecorderOptions options = {});
  ~Recorder() override;  ///< completes the file
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  std::uint64_t send(RunId run, RequestId request, const NodePath& node, Payload payload) override;

  /// Has `listener` called for every event from now on, in order, on the thread that sends it and while it
  /// waits: for those who may miss none, such as a server. It must return soon, must not throw, and must not
  /// call the recorder. It takes the place of the listener before; an empty one listens no more, and is not
  /// being called when this returns.
  void setListener(std::function<void(const Event&)> listener);

  /// The same for a further listener, beside that one; until it is removed by what this returns.
  std::uint64_t addListener(std::function<void(const Event&)> listener);
  /// It is not being called when this returns. Nothing happens for one that is not there.
  void removeListener(std::uint64_t id);

  /// Has `redact` change every event from now on before it is kept, written or queued, in the order in which
  /// such functions were added: for those who keep texts out of traces. The listener gets events as they were
  /// sent, before that. The rules of setListener() hold for it, and it stays as long as the recorder.
  void addRedaction(std::function<void(Event&)> redact);

  /// Appends what has waited to `into` and returns how many events that were.
  std::size_t drain(std::vector<Event>& into);

  /// Starts writing a file; ends one that is being written, as finishFile does. Started in the middle of a
  /// session, it begins with a SessionStarted event that carries the pool's present state and the number of
  /// the event before. Throws Failure if the file cannot be written.
  void startFile(OutputFile file, const TraceHeader& header, const TraceWriteOptions& options = {});
  void startFile(const std::filesystem::path& path, const TraceHeader& header,
                 const TraceWriteOptions& options = {});

  /// Completes the file. What went wrong while writing it, if anything did; the session went on all the same,
  /// and there is no file. Nothing happens without a file.
  std::optional<Error> finishFile();

  /// Hands everything that was sent to the system, so that it outlives the program. This is done at the end
  /// of each run, too; without either, up to a second of events is lost when the program is killed.
  /// Returns what went wrong while the file was written, if anything did.
  std::optional<Error> flushFile();

  /// Ends the file and removes it.
  void discardFile();

  /// All events so far; empty unless keepEvents.
  std::vector<Event> events() const;

  /// The pool as the events say.
  PoolState pool() const;

  std::uint64_t lastSequence() const;

  /// The first event that contradicted those before it, which is a fault of the engine's; the pool and
  /// snapshots are not to be trusted from there on.
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

  mutable std::mutex m_sendMutex;  ///< numbers, memory and file; taken before m_queueMutex
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

  mutable std::mutex m_queueMutex;  ///< the queue and the pool
  struct Waiting {
    Event event;
    std::uint64_t bytes = 0;
  };
  std::deque<Waiting> m_queue;
  std::uint64_t m_queueBytes = 0;  ///< of all in it
  PoolReplay m_pool;
  std::optional<Error> m_contradiction;
  std::uint64_t m_queuedSequence = 0;  ///< of the last event that m_pool has seen
  std::int64_t m_queuedTime = 0;
  bool m_shedding = false;  ///< events of detail are not queued until the next drain
  std::uint64_t m_lost = 0;
};

}  // namespace spanscope::trace
