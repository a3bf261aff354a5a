// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/recorder.h"

#include "engine/trace/event_fields.h"
#include "engine/trace/memory_bytes.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>
#include <variant>

namespace spanscope::trace {

namespace {

constexpr std::size_t kLeastCapacity = 16;

RecorderOptions completed(RecorderOptions options) {
  options.queueCapacity = std::max(options.queueCapacity, kLeastCapacity);
  if (!options.clock) {
    options.clock = [] {
      return std::int64_t{std::chrono::duration_cast<std::chrono::nanoseconds>(
                              std::chrono::steady_clock::now().time_since_epoch())
                              .count()};
    };
  }
  return options;
}

bool isDetail(const Payload& payload) {
  return std::visit([]<class T>(const T&) { return Facts<T>::kIsDetail; }, payload);
}

}  // namespace

Recorder::Recorder(RecorderOptions options)
    : m_options(completed(std::move(options))), m_start(m_options.clock()) {}

Recorder::~Recorder() {
  try {
    finishFile();
  } catch (const std::exception&) {
    // A destructor cannot report errors. An incomplete file is removed.
  }
}

std::uint64_t Recorder::send(RunId run, RequestId request, const NodePath& node, Payload payload) {
  const std::lock_guard sending(m_sendMutex);
  m_time = std::max(m_time, m_options.clock() - m_start);
  Event event{++m_sequence, m_time, m_options.session, run, request, node, std::move(payload)};
  const std::uint64_t sequence = m_sequence;
  if (const auto* session = std::get_if<SessionStarted>(&event.payload)) {
    m_sessionStarted = *session;
    m_sessionStarted->pool = PoolState{};
  }
  if (m_listener) m_listener(event);
  for (const auto& [id, listener] : m_listeners) listener(event);
  for (const auto& redact : m_redactions) redact(event);
  if (m_options.keepEvents) m_events.push_back(event);
  write(event);
  enqueue(std::move(event));
  return sequence;
}

void Recorder::setListener(std::function<void(const Event&)> listener) {
  const std::lock_guard sending(m_sendMutex);
  m_listener = std::move(listener);
}

std::uint64_t Recorder::addListener(std::function<void(const Event&)> listener) {
  const std::lock_guard sending(m_sendMutex);
  m_listeners.emplace(++m_lastListener, std::move(listener));
  return m_lastListener;
}

void Recorder::removeListener(std::uint64_t id) {
  const std::lock_guard sending(m_sendMutex);
  m_listeners.erase(id);
}

void Recorder::addRedaction(std::function<void(Event&)> redact) {
  const std::lock_guard sending(m_sendMutex);
  m_redactions.push_back(std::move(redact));
}

void Recorder::write(const Event& event) {
  if (!m_writer || m_fileError) return;
  try {
    m_writer->append(event);
    if (std::holds_alternative<RunFinished>(event.payload)) m_writer->flush();
  } catch (const Failure& failure) {
    m_fileError = failure.error();
  }
}

std::optional<Error> Recorder::flushFile() {
  const std::lock_guard sending(m_sendMutex);
  if (!m_writer || m_fileError) return m_fileError;
  try {
    m_writer->flush();
  } catch (const Failure& failure) {
    m_fileError = failure.error();
  }
  return m_fileError;
}

void Recorder::enqueue(Event event) {
  const std::lock_guard queueing(m_queueMutex);
  if (std::optional<Error> error = m_pool.apply(event); error && !m_contradiction) {
    error->place = "event " + std::to_string(event.sequence) + ", " + error->place;
    m_contradiction = std::move(error);
  }
  m_queuedSequence = event.sequence;
  m_queuedTime = event.time;
  if (m_shedding && isDetail(event.payload)) {
    ++m_lost;
    return;
  }
  const std::uint64_t bytes = memoryBytes(event);
  if (isFull(bytes)) {
    shed(bytes);
    if (isDetail(event.payload)) {
      ++m_lost;
      return;
    }
  }
  m_queueBytes += bytes;
  m_queue.push_back({std::move(event), bytes});
}

/// Whether the queue has no space for an event of `bytes` bytes.
bool Recorder::isFull(std::uint64_t bytes) const {
  return m_queue.size() >= m_options.queueCapacity ||
         (!m_queue.empty() && m_queueBytes + bytes > m_options.queueBytes);
}

template <class Goes>
void Recorder::dropWhere(Goes goes) {
  std::erase_if(m_queue, [&](const Waiting& waiting) {
    if (!goes(waiting.event.payload)) return false;
    m_queueBytes -= waiting.bytes;
    return true;
  });
}

/// Makes space for an event of `bytes` bytes, and for at least a quarter of the queue. The cost of this
/// function is thus spread over many events.
void Recorder::shed(std::uint64_t bytes) {
  const std::size_t before = m_queue.size();
  const std::uint64_t room = m_options.queueBytes - std::min(bytes, m_options.queueBytes / 2);
  const auto isEnough = [&](std::uint64_t part, std::uint64_t whole) {
    return m_queue.size() <= m_options.queueCapacity / whole * part &&
           m_queueBytes <= std::min(room, m_options.queueBytes / whole * part);
  };
  if (!m_shedding) {
    m_shedding = true;
    dropWhere(isDetail);
  }
  if (!isEnough(3, 4)) {
    dropWhere([](const Payload& payload) {
      return std::holds_alternative<TokenGenerated>(payload) || std::holds_alternative<TextReceived>(payload);
    });
  }
  if (!isEnough(3, 4)) {
    while (!m_queue.empty() && !isEnough(1, 2)) {
      m_queueBytes -= m_queue.front().bytes;
      m_queue.pop_front();
    }
  }
  m_lost += before - m_queue.size();
}

std::size_t Recorder::drain(std::vector<Event>& into) {
  std::deque<Waiting> taken;
  bool lossy = false;
  Event snapshot;
  {
    const std::lock_guard queueing(m_queueMutex);
    taken.swap(m_queue);
    m_queueBytes = 0;
    lossy = std::exchange(m_shedding, false);
    if (lossy) {
      snapshot.sequence = m_queuedSequence;
      snapshot.time = m_queuedTime;
      snapshot.session = m_options.session;
      snapshot.payload = Snapshot{m_pool.state(), std::exchange(m_lost, 0)};
    }
  }
  for (Waiting& waiting : taken) into.push_back(std::move(waiting.event));
  if (lossy) into.push_back(std::move(snapshot));
  return taken.size() + (lossy ? 1 : 0);
}

void Recorder::startFile(const std::filesystem::path& path, const TraceHeader& header,
                         const TraceWriteOptions& options) {
  finishFile();
  startFile(OutputFile(path), header, options);
}

void Recorder::startFile(OutputFile file, const TraceHeader& header, const TraceWriteOptions& options) {
  const std::lock_guard sending(m_sendMutex);
  endFile();
  auto writer = std::make_unique<TraceWriter>(std::move(file), header, options);
  if (m_sequence > 0) {
    SessionStarted session = m_sessionStarted.value_or(SessionStarted{});
    {
      const std::lock_guard queueing(m_queueMutex);
      session.pool = m_pool.state();
    }
    Event event;
    event.sequence = m_sequence;
    event.time = m_time;
    event.session = m_options.session;
    event.payload = std::move(session);
    writer->append(event);
  }
  m_writer = std::move(writer);
}

std::optional<Error> Recorder::endFile() {
  std::optional<Error> error = std::exchange(m_fileError, std::nullopt);
  const std::unique_ptr<TraceWriter> writer = std::exchange(m_writer, nullptr);
  if (!writer || error) return error;
  try {
    writer->finish();
  } catch (const Failure& failure) {
    return failure.error();
  }
  return std::nullopt;
}

std::optional<Error> Recorder::finishFile() {
  const std::lock_guard sending(m_sendMutex);
  return endFile();
}

void Recorder::discardFile() {
  const std::lock_guard sending(m_sendMutex);
  m_fileError.reset();
  m_writer.reset();
}

std::vector<Event> Recorder::events() const {
  const std::lock_guard sending(m_sendMutex);
  return m_events;
}

PoolState Recorder::pool() const {
  const std::lock_guard queueing(m_queueMutex);
  return m_pool.state();
}

std::uint64_t Recorder::lastSequence() const {
  const std::lock_guard sending(m_sendMutex);
  return m_sequence;
}

std::optional<Error> Recorder::contradiction() const {
  const std::lock_guard queueing(m_queueMutex);
  return m_contradiction;
}

}  // namespace spanscope::trace
