// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/trace_store.h"

#include "engine/trace/event_fields.h"
#include "engine/trace/memory_bytes.h"
#include "engine/trace/trace_file.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace spanscope::ui {
namespace {

/// If there are more marks than this, every second mark is dropped.
constexpr std::size_t kMostMarks = 256;
/// Marks are also dropped if they take more memory than kMostMarkBytes and than kMostStates whole states.
constexpr std::uint64_t kMostMarkBytes = 64ULL << 20;
constexpr std::uint64_t kMostStates = 4;

}  // namespace

TraceStore TraceStore::open(const std::filesystem::path& path) {
  trace::TraceFile file = trace::readTrace(path);
  TraceStore store;
  store.m_events = std::move(file.events);
  // Events are filtered in place, because a recording may be large. Later events overwrite events with
  // contradictions.
  std::size_t kept = 0;
  for (std::size_t i = 0; i < store.m_events.size(); ++i) {
    if (std::optional<Error> error = store.m_newest.apply(store.m_events[i])) {
      store.m_contradictions.push_back(std::move(*error));
      continue;
    }
    if (kept != i) store.m_events[kept] = std::move(store.m_events[i]);
    store.note(kept++);
    store.mark(kept);
  }
  store.m_events.resize(kept);
  for (Error& warning : file.warnings) store.m_contradictions.push_back(std::move(warning));
  return store;
}

void TraceStore::append(trace::Event event) {
  if (std::optional<Error> error = m_newest.apply(event)) {
    m_contradictions.push_back(std::move(*error));
    return;
  }
  m_events.push_back(std::move(event));
  note(m_events.size() - 1);
  mark(m_events.size());
}

void TraceStore::mark(std::size_t count) {
  if (count < m_nextMark) return;
  const trace::Replay none;
  m_marks.push_back({.count = count,
                     .state = m_newest,
                     .bytes = m_newest.bytesBeside(m_marks.empty() ? none : m_marks.back().state)});
  m_markBytes += m_marks.back().bytes;
  // The first mark has a whole state. Even if a state is large, the marks may take as much memory as a few
  // whole states.
  while (m_marks.size() > kMostMarks ||
         (!m_marks.empty() && m_markBytes > std::max(kMostMarkBytes, kMostStates * m_marks.front().bytes))) {
    thinMarks();
  }
  m_nextMark = count + m_markDistance;
}

/// Drops every second mark. The distance between marks doubles, and the memory stays bounded.
void TraceStore::thinMarks() {
  std::size_t kept = 0;
  for (std::size_t i = 1; i < m_marks.size(); i += 2) m_marks[kept++] = std::move(m_marks[i]);
  m_marks.resize(kept);
  m_markDistance *= 2;
  m_markBytes = 0;
  const trace::Replay none;
  for (std::size_t i = 0; i < kept; ++i) {
    m_marks[i].bytes = m_marks[i].state.bytesBeside(i == 0 ? none : m_marks[i - 1].state);
    m_markBytes += m_marks[i].bytes;
  }
}

std::uint64_t TraceStore::bytes() const {
  return m_events.size() * sizeof(trace::Event) + m_heapBytes;
}

TraceStore TraceStore::newestPart(std::uint64_t bytes) const {
  if (this->bytes() <= bytes) return *this;
  std::size_t first = m_events.size();
  std::uint64_t taken = 0;
  while (first > 0) {
    taken += trace::memoryBytes(m_events[first - 1]);
    if (taken > bytes) break;
    --first;
  }
  const auto run = std::lower_bound(runs().begin(), runs().end(), first);
  if (run != runs().end()) first = *run;
  // Two events replace the dropped events.
  if (first < 2 || m_events[first - 1].sequence < 2) return *this;

  TraceStore part;
  // The two events at the start of an earlier newestPart() are not events of the session.
  part.m_missing = m_missing + first - (m_missing > 0 ? 2 : 0);
  part.m_events.reserve(m_events.size() - first + 2);
  trace::Event event = beginningAt(first);
  --event.sequence;  // the message below replaces the event before
  part.append(event);
  ++event.sequence;
  event.payload =
      trace::MessageLogged{.severity = Severity::Note,
                           .text = tr(/*id:window-keeps-part*/ "the trace of this session is incomplete: %1 "
                                                               "older events were deleted to save memory")
                                       .arg(part.m_missing)
                                       .toStdString()};
  part.append(event);
  for (std::size_t i = first; i < m_events.size(); ++i) part.append(m_events[i]);
  return part;
}

trace::Event TraceStore::beginningAt(std::size_t first) const {
  const trace::Replay& state = stateAt(first);
  const trace::Progress& progress = state.progress();
  const trace::Event& before = m_events[first - 1];
  trace::Event event;
  event.sequence = before.sequence;
  event.time = before.time;
  event.session = before.session;
  event.payload = trace::SessionStarted{.program = progress.program,
                                        .model = progress.model,
                                        .backend = progress.backend,
                                        .threads = progress.threads,
                                        .layers = progress.layers,
                                        .heads = progress.heads,
                                        .pool = state.pool().state()};
  return event;
}

const trace::Replay& TraceStore::stateAt(std::size_t count) const {
  count = std::min(count, m_events.size());
  if (count == m_events.size()) return m_newest;

  const auto after =
      std::upper_bound(m_marks.begin(), m_marks.end(), count,
                       [](std::size_t wanted, const Mark& mark) { return wanted < mark.count; });
  const std::size_t markCount = after == m_marks.begin() ? 0 : std::prev(after)->count;
  if (!m_cursor || m_cursor->count > count || m_cursor->count < markCount) {
    m_cursor = after == m_marks.begin() ? Mark{} : *std::prev(after);
  }
  // Every event was already applied once, so no event can fail now.
  for (; m_cursor->count < count; ++m_cursor->count) (void)m_cursor->state.apply(m_events[m_cursor->count]);
  return m_cursor->state;
}

std::optional<std::size_t> TraceStore::indexOf(std::uint64_t sequence) const {
  const auto found = std::lower_bound(
      m_events.begin(), m_events.end(), sequence,
      [](const trace::Event& event, std::uint64_t wanted) { return event.sequence < wanted; });
  if (found == m_events.end() || found->sequence != sequence) return std::nullopt;
  return static_cast<std::size_t>(found - m_events.begin());
}

std::size_t TraceStore::countAt(std::int64_t time) const {
  const auto after =
      std::upper_bound(m_events.begin(), m_events.end(), time,
                       [](std::int64_t wanted, const trace::Event& event) { return wanted < event.time; });
  return static_cast<std::size_t>(after - m_events.begin());
}

const RequestEvents* TraceStore::request(RequestId request) const {
  const auto found = m_requests.find(request);
  return found == m_requests.end() ? nullptr : &found->second;
}

std::optional<std::size_t> TraceStore::startOf(RunId run) const {
  const auto found = std::find_if(runs().begin(), runs().end(),
                                  [&](std::size_t index) { return m_events[index].run == run; });
  return found == runs().end() ? std::nullopt : std::optional(*found);
}

std::size_t TraceStore::endOf(RunId run) const {
  const auto finishedAt = [this](RunId each) -> std::optional<std::size_t> {
    const auto found = m_ofRuns.find(each);
    if (found == m_ofRuns.end()) return std::nullopt;
    const std::vector<std::size_t>& ends = found->second.of<trace::RunFinished>();
    return ends.empty() ? std::nullopt : std::optional(ends.back());
  };
  const std::optional<std::size_t> end = finishedAt(run);
  if (!end) return size();
  const auto next = std::upper_bound(runs().begin(), runs().end(), *end);
  const bool isAlone = std::all_of(runs().begin(), next, [&](std::size_t start) {
    const std::optional<std::size_t> other = finishedAt(m_events[start].run);
    return other && *other <= *end;
  });
  if (!isAlone) return *end + 1;
  if (next == runs().end()) return size();
  // An empty pool is not the pool of this run.
  for (std::size_t index = *end + 1; index < *next; ++index) {
    if (std::holds_alternative<trace::CacheCleared>(m_events[index].payload)) return index;
  }
  return *next;
}

const trace::LayoutChosen* TraceStore::layoutOf(RunId run) const {
  const auto found = m_ofRuns.find(run);
  if (found == m_ofRuns.end()) return nullptr;
  const std::vector<std::size_t>& chosen = found->second.of<trace::LayoutChosen>();
  return chosen.empty() ? nullptr : std::get_if<trace::LayoutChosen>(&m_events[chosen.back()].payload);
}

const trace::JobEnded* TraceStore::lastJob(const std::string& kind, const trace::PackedValue& arguments,
                                           std::size_t count) const {
  const std::vector<std::size_t>& all = indicesOf<trace::JobEnded>();
  for (auto index = std::lower_bound(all.begin(), all.end(), count); index != all.begin();) {
    const auto& job = std::get<trace::JobEnded>(m_events[*--index].payload);
    if (job.kind == kind && job.arguments == arguments) return &job;
  }
  return nullptr;
}

std::size_t TraceStore::lastJobEnd(std::size_t count) const {
  const std::vector<std::size_t>& all = indicesOf<trace::JobEnded>();
  const auto after = std::lower_bound(all.begin(), all.end(), count);
  return after == all.begin() ? 0 : *std::prev(after) + 1;
}

void TraceStore::note(std::size_t index) {
  const trace::Event& event = m_events[index];
  m_heapBytes += trace::memoryBytes(event) - sizeof(trace::Event);
  std::visit(
      [&]<class T>(const T& payload) {
        using Facts = trace::Facts<T>;
        using Kind = typename trace::IndexedAs<T>::Kind;
        constexpr trace::Indexed kIndexed = Facts::kIndexed;
        if constexpr (kIndexed.inSession) m_ofSession.add<Kind>(index);
        if constexpr (kIndexed.byRun) m_ofRuns[event.run].template add<Kind>(index);
        if constexpr (kIndexed.byRequest) {
          Facts::visitRequests(payload, event, [&](RequestId request) {
            RequestEvents& events = m_requests[request];
            if (request == event.request && event.run != 0) events.run = event.run;
            events.template add<Kind>(index);
          });
        }
      },
      event.payload);
}

}  // namespace spanscope::ui
