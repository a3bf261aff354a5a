// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/scrubber/scrubber_model.h"

#include "ui/session/run_list.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/segment_names.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace spanscope::ui {

namespace {

std::optional<TickKind> tickOf(const trace::Payload& payload) {
  if (const auto* lookup = std::get_if<trace::BlockLookedUp>(&payload)) {
    switch (lookup->outcome) {
      case trace::LookupOutcome::Hit:
      case trace::LookupOutcome::Partial:
        return TickKind::Hit;
      case trace::LookupOutcome::Relocated:
        return TickKind::Relocated;
      case trace::LookupOutcome::Miss:
        return TickKind::Computed;
    }
  }
  if (std::holds_alternative<trace::TokenGenerated>(payload)) return TickKind::Token;
  return std::nullopt;
}

/// The document's runs among those of the trace; none: all runs count as runs of the document.
std::set<RunId> ownRuns(const ViewInput& input) {
  std::set<RunId> own;
  if (!input.records) return own;
  for (const auto& [run, paths] : input.paths) own.insert(run);
  return own;
}

}  // namespace

bool TickBins::isOwn(RunId run) const {
  return m_own.empty() || m_own.contains(run);
}

bool TickBins::isOwnRequest(RequestId id) const {
  if (m_own.empty()) return true;
  const RequestEvents* request = m_trace->request(id);
  return request != nullptr && m_own.contains(request->run);
}

std::optional<TickKind> TickBins::kindOf(const trace::Event& event) const {
  if (const auto* pass = std::get_if<trace::BatchComputed>(&event.payload)) {
    std::optional<TickKind> kind;
    for (const trace::BatchEntry& entry : pass->entries) {
      if (entry.decode) continue;
      if (isOwnRequest(entry.request)) return TickKind::Computed;
      kind = TickKind::Other;
    }
    return kind;
  }
  const std::optional<TickKind> kind = tickOf(event.payload);
  return !kind || isOwn(event.run) ? kind : TickKind::Other;
}

void TickBins::follow(const std::shared_ptr<const TraceStore>& trace, const std::set<RunId>& own) {
  std::set<RunId> present;
  for (const std::size_t index : trace->runs()) {
    const RunId run = trace->event(index).run;
    if (own.contains(run)) present.insert(run);
  }
  if (trace != m_trace || present != m_own) *this = TickBins();
  m_trace = trace;
  m_own = std::move(present);
  for (; m_read < trace->size(); ++m_read) {
    std::size_t bin = m_read / m_eventsPerBin;
    if (bin >= kMostBins) {
      for (std::size_t i = 0; i < m_bins.size(); i += 2) {
        TickBin sum = m_bins[i];
        for (std::size_t kind = 0; i + 1 < m_bins.size() && kind < kTickKinds; ++kind) {
          sum.counts[kind] += m_bins[i + 1].counts[kind];
        }
        m_bins[i / 2] = sum;
      }
      m_bins.resize((m_bins.size() + 1) / 2);
      m_eventsPerBin *= 2;
      bin = m_read / m_eventsPerBin;
    }
    if (bin >= m_bins.size()) m_bins.resize(bin + 1);
    if (const std::optional<TickKind> kind = kindOf(trace->event(m_read))) {
      ++m_bins[bin].counts[static_cast<std::size_t>(*kind)];
    }
  }
}

ScrubberModel scrubberModel(const ViewInput& input) {
  TickBins bins;
  RunChoices choices;
  return scrubberModel(input, bins, choices);
}

ScrubberModel scrubberModel(const ViewInput& input, TickBins& bins, RunChoices& choices) {
  bins.follow(input.trace, ownRuns(input));
  choices.follow(input);
  // A trace with only runs of other documents has no events for this document.
  const std::vector<std::size_t>& begun = input.trace->runs();
  const bool isOfOthers =
      !begun.empty() && std::all_of(begun.begin(), begun.end(), [&input](std::size_t index) {
        return isOfOther(input, input.trace->event(index).run);
      });
  if (isOfOthers) {
    ScrubberModel none;
    none.run = choices.shown();
    none.choices = choices.all();
    return none;
  }
  ScrubberModel model{.position = input.position,
                      .total = input.trace->size(),
                      .bins = bins.bins(),
                      .eventsPerBin = bins.eventsPerBin(),
                      .runs = {},
                      .label = {},
                      .event = {},
                      .exact = {},
                      .run = choices.shown(),
                      .choices = choices.all()};
  std::int64_t since = 0;
  for (const std::size_t index : input.trace->runs()) {
    const trace::Event& event = input.trace->event(index);
    model.runs.push_back({.run = event.run, .index = index});
    // If several runs are in progress, times belong to the shown run.
    if (index < input.position && (model.run == 0 || event.run == model.run)) since = event.time;
  }
  if (model.total == 0) return model;
  if (input.position == 0) {
    model.label = tr("before the first of %1 events").arg(model.total);
    return model;
  }
  const trace::Event& last = input.trace->event(input.position - 1);
  const QString when = isPredicted(*input.trace)
                           ? tr("predicted")
                           : durationText(static_cast<double>(last.time - since) * 1e-9);
  model.label = tr("event %1 of %2 · %3").arg(model.position).arg(model.total).arg(when);
  model.event = EventNames(input).of(last);
  model.exact = exactText(last);
  return model;
}

QString tickName(TickKind kind) {
  switch (kind) {
    case TickKind::Computed:
      return tr("computed");
    case TickKind::Relocated:
      return tr("relocated hit");
    case TickKind::Hit:
      return tr("hit");
    case TickKind::Token:
      return tr("token");
    case TickKind::Other:
      return tr("of other runs");
  }
  return {};
}

namespace {

constexpr std::size_t kMostChoices = 200;

}  // namespace

void RunChoices::list(const ViewInput& input) {
  m_shown = 0;
  m_all.clear();
  // Going back in time hides no run from this list.
  std::vector<ListedRun> runs = listRuns(input, true);
  std::erase_if(runs, [](const ListedRun& run) { return !run.isOwn; });
  const auto& begun = input.state().progress().runs;
  const ListedRun* shown = nullptr;
  for (const ListedRun& run : runs) {
    if (run.trace == input.trace && begun.contains(run.run)) shown = &run;
  }
  if (shown != nullptr) m_shown = shown->run;
  const RunLabels labels(runs);
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    // A longer list would be hard to use. To choose older runs, the user goes back in time.
    if (m_all.size() >= kMostChoices && &*run != shown) continue;
    QString text = labels.of(*run);
    if (const QString time = runTime(*run); !time.isEmpty()) text = tr("%1 · %2").arg(text, time);
    QStringList help;
    if (shown != nullptr && run->run != shown->run) {
      const QStringList differences = differencesOf(*shown, *run);
      help += differences.isEmpty() ? tr("Like run %1").arg(shown->run)
                                    : tr("Unlike run %1: %2").arg(shown->run).arg(differences.join(tr(", ")));
    }
    const bool hasTrace = run->trace || (run->record != nullptr && run->record->hasEvents());
    if (!hasTrace) help += tr("The events of this run were deleted to save memory. The metrics remain.");
    m_all.push_back({run->run, text, help.join(QLatin1Char('\n')), hasTrace});
  }
}

RunChoices::Source RunChoices::sourceOf(const ViewInput& input) {
  const trace::Progress& now = input.state().progress();
  Source source{.records = input.records,
                .trace = input.trace,
                .events = input.trace->size(),
                .begun = now.runs.size(),
                .model = now.model,
                .own = {},
                .today = QDate::currentDate()};
  if (input.records) {
    for (const auto& record : *input.records) {
      if (record->trace) source.events += record->trace->size();
    }
  }
  for (const auto& [run, paths] : input.paths) source.own.push_back(run);
  return source;
}

void RunChoices::follow(const ViewInput& input) {
  Source source = sourceOf(input);
  if (m_source == source) return;
  m_source = std::move(source);
  list(input);
}

namespace {

constexpr int kFrame = 16;  // milliseconds
/// Without motion, playing shows one event every kBeat milliseconds, but a whole trace takes no longer than
/// kLongest at normal speed.
constexpr int kBeat = 80;
constexpr int kLongest = 30'000;
constexpr int kLongestMoving = 60'000;  // the same with motion
/// Max milliseconds of one step, so that a halted program does not skip events.
constexpr double kLongestTick = 100;
constexpr std::size_t kNormalSpeed = 2;
// For new events.
constexpr int kLongestLive = 400;          // milliseconds
constexpr int kLeastMoving = 350;          // of a beat in which something moves
constexpr std::size_t kMostAtOnce = 4000;  // max new events with motion
constexpr double kLateTick = 50;           // milliseconds
constexpr int kMostLateTicks = 3;          // in one motion
constexpr int kRest = 3000;                // milliseconds without motion after that

/// How long the longest beat of these events moves; 0: nothing moves.
int movingTime(const TraceStore& trace, std::size_t first, std::size_t last) {
  int longest = 0;
  while (first < last && longest < kLongestLive) {
    const Beat beat = beatFrom(trace, first);
    if (beat.milliseconds >= kLeastMoving) longest = std::max(longest, beat.milliseconds);
    first = beat.last;
  }
  return std::min(longest, kLongestLive);
}

}  // namespace

Player::Player(QObject* parent) : QObject(parent), m_speed(kNormalSpeed) {
  m_clock.setTimerType(Qt::PreciseTimer);
  connect(&m_clock, &QTimer::timeout, this, &Player::tick);
  m_liveClock.setTimerType(Qt::PreciseTimer);
  m_liveClock.setInterval(kFrame);
  connect(&m_liveClock, &QTimer::timeout, this,
          [this] { advanceLive(static_cast<double>(m_liveSince.restart())); });
}

const std::vector<double>& Player::speeds() {
  static const std::vector<double> speeds{0.25, 0.5, 1, 2, 4};
  return speeds;
}

void Player::setSpeed(std::size_t index) {
  m_speed = std::min(index, speeds().size() - 1);
}

void Player::follow(const std::shared_ptr<const TraceStore>& trace, std::size_t position) {
  const bool isOther = trace != m_trace;
  m_trace = trace;
  const std::size_t known = std::exchange(m_known, total());
  if (!isOther && position == m_position) return;
  const bool hasArrived = !isOther && m_position == known && position == total() && position > known;
  m_position = position;
  if (hasArrived && !isPlaying()) return takeArrived(known);
  stopLive();
  if (m_moment == Moment()) return;
  m_moment = {};
  Q_EMIT momentChanged(m_moment);
}

void Player::stopLive() {
  m_liveClock.stop();
  m_lateTicks = 0;
}

void Player::takeArrived(std::size_t first) {
  Moment moment;
  if (isLive()) {
    // The new events join the current motion, and end with it.
    moment = {.first = m_moment.first, .last = m_position, .done = m_moment.done};
  } else if (!m_resting.isValid() || m_resting.hasExpired(kRest)) {
    m_resting.invalidate();
    m_beat = m_position - first > kMostAtOnce ? 0 : movingTime(*m_trace, first, m_position);
    if (m_beat > 0 && wantsMotion()) moment = {.first = first, .last = m_position, .done = 0};
  }
  if (moment.last - moment.first > kMostAtOnce) moment = {};
  if (moment == Moment())
    stopLive();
  else if (!isLive()) {
    m_liveSince.start();
    m_liveClock.start();
  }
  if (moment == m_moment) return;
  m_moment = moment;
  Q_EMIT momentChanged(m_moment);
}

void Player::advanceLive(double milliseconds) {
  if (!isLive()) return;
  if (milliseconds > kLateTick && ++m_lateTicks >= kMostLateTicks) {
    m_resting.start();
    m_moment.done = 1;
  }
  m_moment.done += milliseconds / std::max(1, m_beat);
  if (m_moment.done >= 1) {
    stopLive();
    m_moment = {};
  }
  Q_EMIT momentChanged(m_moment);
}

void Player::show(const Moment& moment, std::size_t position) {
  stopLive();
  const bool goes = position != m_position;
  m_position = position;
  // The moment comes first. Otherwise views would first show the end of the motion.
  if (moment != m_moment) {
    m_moment = moment;
    Q_EMIT momentChanged(m_moment);
  }
  if (goes) Q_EMIT positionWanted(m_position);
}

void Player::setPlaying(bool playing) {
  if (playing == isPlaying()) return;
  if (!playing) {
    m_clock.stop();
    Q_EMIT playingChanged();
    return;
  }
  if (total() == 0) return;
  if (m_position >= total() && !isUnderway()) show({}, 0);
  m_isMoving = wantsMotion();
  m_waited = 0;
  if (m_isMoving) {
    double whole = 0;
    for (std::size_t at = m_position; at < total();) {
      const Beat beat = beatFrom(*m_trace, at);
      whole += beat.milliseconds;
      at = beat.last;
    }
    m_pace = std::max(1.0, whole / kLongestMoving);
  } else {
    settle();
    constexpr std::size_t kBeats = kLongest / kBeat;
    m_stride = std::max<std::size_t>(1, (total() + kBeats - 1) / kBeats);
  }
  m_since.start();
  m_clock.start(kFrame);
  Q_EMIT playingChanged();
}

void Player::tick() {
  const auto passed = static_cast<double>(m_since.restart());
  advance(std::min(passed, kLongestTick));
}

void Player::advance(double milliseconds) {
  if (!isPlaying()) return;
  if (m_isMoving)
    playMoving(milliseconds * speed() * m_pace);
  else
    playStepping(milliseconds * speed());
  if (m_position >= total() && !isUnderway()) setPlaying(false);
}

void Player::playMoving(double milliseconds) {
  Moment moment = isUnderway() ? m_moment : Moment();
  std::size_t position = m_position;
  while (true) {
    if (!moment.isUnderwayAt(position)) {
      moment = {};
      if (position >= total()) break;
      const Beat beat = beatFrom(*m_trace, position);
      moment = {.first = beat.first, .last = beat.last, .done = 0};
      position = beat.last;
      m_beat = beat.milliseconds;
    }
    const double left = (1 - moment.done) * m_beat;
    if (milliseconds < left) {
      moment.done += milliseconds / m_beat;
      break;
    }
    milliseconds -= left;
    moment.done = 1;
  }
  show(moment, position);
}

void Player::playStepping(double milliseconds) {
  m_waited += milliseconds;
  const auto beats = static_cast<std::size_t>(m_waited / kBeat);
  m_waited -= static_cast<double>(beats) * kBeat;
  if (beats > 0) show({}, std::min(total(), m_position + beats * m_stride));
}

void Player::goTo(double place) {
  const double whole = std::clamp(place, 0.0, static_cast<double>(total()));
  const auto before = static_cast<std::size_t>(std::floor(whole));
  const double part = whole - static_cast<double>(before);
  if (part == 0 || !wantsMotion()) return show({}, static_cast<std::size_t>(std::llround(whole)));
  const Beat beat = beatFrom(*m_trace, before);
  m_beat = beat.milliseconds;
  show({.first = before, .last = before + 1, .done = part}, before + 1);
}

void Player::nudge(double share) {
  if (total() == 0 || share == 0) return;
  const bool goesOn = share > 0;
  if (!isUnderway() && (goesOn ? m_position >= total() : m_position == 0)) return;
  Moment moment = m_moment;
  if (!isUnderway()) {
    const Beat beat = goesOn ? beatFrom(*m_trace, m_position) : beatBefore(*m_trace, m_position);
    m_beat = beat.milliseconds;
    moment = {.first = beat.first, .last = beat.last, .done = goesOn ? 0.0 : 1.0};
  }
  moment.done += share;
  // Rounding must not keep four quarters from being a whole.
  constexpr double kNothing = 1e-6;
  if (!wantsMotion()) return show({}, goesOn ? moment.last : moment.first);
  if (moment.done >= 1 - kNothing) return show({}, moment.last);
  if (moment.done <= kNothing) return show({}, moment.first);
  show(moment, moment.last);
}

bool Player::settle() {
  const bool was = isUnderway();
  show({}, m_position);
  return was;
}

}  // namespace spanscope::ui
