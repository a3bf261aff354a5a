// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/scrubber/scrubber_track.h"

#include "ui/session/token_account.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/segment_names.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <QFontMetrics>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QStringList>
#include <QToolTip>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <variant>

namespace spanscope::ui {

namespace {

constexpr int kEdge = 10;   ///< room for the handle at each end
constexpr int kTick = 10;   ///< height of a tick
constexpr int kHandle = 7;  ///< radius of the handle
constexpr int kWheel = 1;
constexpr double kRoomBetween = 4;  ///< min pixels per event, so that the handle can stop between two events
constexpr double kSnap = 0.2;       ///< max distance to a position that the handle snaps to

QColor inkOf(TickKind kind, const Theme& theme) {
  switch (kind) {
    case TickKind::Computed:
      return theme.ink(BlockRole::Computed);
    case TickKind::Relocated:
      return theme.ink(BlockRole::Relocated);
    case TickKind::Hit:
      return theme.ink(BlockRole::Hit);
    case TickKind::Token:
      return theme.color(Role::Text);
    case TickKind::Other:
      return theme.color(Role::Outline);
  }
  return {};
}

int lineOf(const QRect& area) {
  return area.top() + area.height() / 2;
}

}  // namespace

ScrubberTrack::ScrubberTrack(QWidget* parent) : QAbstractSlider(parent) {
  setOrientation(Qt::Horizontal);
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  setAccessibleName(tr("Position in the trace"));
}

void ScrubberTrack::setContent(const ScrubberModel& model, const ViewInput& input) {
  const bool isOther = m_input && m_input->trace != input.trace;
  m_input = input;
  m_model = model;
  m_theme = input.theme;
  if (isOther || m_marked.end > model.total) setMarked({});
  const auto most = static_cast<std::size_t>(std::numeric_limits<int>::max());
  const QSignalBlocker quiet(this);
  setRange(0, static_cast<int>(std::min(model.total, most)));
  setPageStep(std::max(1, maximum() / 20));
  setValue(static_cast<int>(std::min(model.position, most)));
  setAccessibleDescription(model.event.isEmpty() ? model.label : tr("%1: %2").arg(model.label, model.event));
  update();
}

void ScrubberTrack::setMoment(const Moment& moment) {
  if (moment == m_moment) return;
  m_moment = moment;
  update();
}

double ScrubberTrack::handlePlace() const {
  if (!m_moment.isUnderwayAt(m_model.position)) return static_cast<double>(m_model.position);
  const auto events = static_cast<double>(m_moment.last - m_moment.first);
  return static_cast<double>(m_moment.first) + m_moment.done * events;
}

double ScrubberTrack::xIn(const QRect& area, double position, std::size_t total) {
  const double width = std::max(1, area.width() - 2 * kEdge);
  const double share = total == 0 ? 0 : position / static_cast<double>(total);
  return area.left() + kEdge + share * width;
}

double ScrubberTrack::xOf(std::size_t position) const {
  return xIn(rect(), static_cast<double>(position), m_model.total);
}

double ScrubberTrack::placeAt(double x) const {
  const double span = std::max(1, width() - 2 * kEdge);
  const double place = std::clamp((x - kEdge) / span, 0.0, 1.0) * static_cast<double>(m_model.total);
  const double pixels = span / std::max(1.0, static_cast<double>(m_model.total));
  const double whole = std::round(place);
  // Whole events stay easy to hit.
  return pixels < kRoomBetween || std::abs(place - whole) < kSnap ? whole : place;
}

std::size_t ScrubberTrack::positionAt(double x) const {
  const double span = std::max(1, width() - 2 * kEdge);
  const double share = std::clamp((x - kEdge) / span, 0.0, 1.0);
  return static_cast<std::size_t>(std::llround(share * static_cast<double>(m_model.total)));
}

void ScrubberTrack::go(std::int64_t position) {
  const auto wanted = static_cast<std::size_t>(
      std::clamp<std::int64_t>(position, 0, static_cast<std::int64_t>(m_model.total)));
  if (wanted != m_model.position || m_moment.isUnderwayAt(m_model.position))
    Q_EMIT moved(static_cast<double>(wanted));
}

void ScrubberTrack::paintTicks(QPainter& painter, const QRect& area) const {
  const int bottom = lineOf(area) - 5;
  const double perBin = static_cast<double>(m_model.eventsPerBin);
  // A column of pixels shows all bins in it, each kind as a part of the height.
  int column = std::numeric_limits<int>::min();
  std::array<std::uint64_t, kTickKinds> sums{};
  bool ahead = false;
  const auto flush = [&] {
    // Events of the document's own runs hide events of other runs at the same place.
    auto& others = sums[static_cast<std::size_t>(TickKind::Other)];
    if (std::any_of(sums.begin(), sums.end() - 1, [](std::uint64_t n) { return n > 0; })) others = 0;
    const auto kinds =
        static_cast<int>(std::count_if(sums.begin(), sums.end(), [](std::uint64_t n) { return n > 0; }));
    if (kinds == 0) return;
    int y = bottom - kTick;
    int done = 0;
    for (std::size_t kind = 0; kind < kTickKinds; ++kind) {
      if (sums[kind] == 0) continue;
      ++done;
      const int end = bottom - kTick + kTick * done / kinds;
      QColor ink = inkOf(static_cast<TickKind>(kind), m_theme);
      if (ahead) ink.setAlphaF(0.45F);
      painter.fillRect(column, y, 2, end - y, ink);
      y = end;
    }
  };
  for (std::size_t bin = 0; bin < m_model.bins.size(); ++bin) {
    const TickBin& counts = m_model.bins[bin];
    if (counts == TickBin{}) continue;
    const double event = (static_cast<double>(bin) + 1) * perBin;
    const int x = static_cast<int>(xIn(area, std::floor(event), m_model.total)) - 1;
    if (x / 2 != column / 2) {
      flush();
      sums = {};
      column = x;
    }
    ahead = static_cast<double>(bin) * perBin >= static_cast<double>(m_model.position);
    for (std::size_t kind = 0; kind < kTickKinds; ++kind) sums[kind] += counts.counts[kind];
  }
  flush();
}

void ScrubberTrack::setMarked(const EventRange& range) {
  if (range == m_marked || (range.isEmpty() && m_marked.isEmpty())) return;
  m_marked = range.isEmpty() ? EventRange() : range;
  update();
  Q_EMIT markedChanged();
}

void ScrubberTrack::markTo(std::int64_t position) {
  m_mark = static_cast<std::size_t>(
      std::clamp<std::int64_t>(position, 0, static_cast<std::int64_t>(m_model.total)));
  setMarked({.begin = std::min(m_anchor, m_mark), .end = std::max(m_anchor, m_mark)});
}

bool ScrubberTrack::takeRangeKey(const QKeyEvent& event) {
  if (event.key() == Qt::Key_Escape && !m_marked.isEmpty()) {
    setMarked({});
    return true;
  }
  if (event.modifiers() != Qt::ShiftModifier || m_model.total == 0) return false;
  const std::size_t from = m_marked.isEmpty() ? m_model.position : m_mark;
  auto to = static_cast<std::int64_t>(from);
  switch (event.key()) {
    case Qt::Key_Left:
    case Qt::Key_Down:
      --to;
      break;
    case Qt::Key_Right:
    case Qt::Key_Up:
      ++to;
      break;
    case Qt::Key_PageUp:
      to += pageStep();
      break;
    case Qt::Key_PageDown:
      to -= pageStep();
      break;
    case Qt::Key_Home:
      to = 0;
      break;
    case Qt::Key_End:
      to = static_cast<std::int64_t>(m_model.total);
      break;
    default:
      return false;
  }
  if (m_marked.isEmpty()) m_anchor = from;
  markTo(to);
  return true;
}

void ScrubberTrack::paintRange(QPainter& painter, const QRect& area) const {
  if (m_marked.isEmpty()) return;
  const double left = xIn(area, static_cast<double>(m_marked.begin), m_model.total);
  const double right = std::max(left + 2, xIn(area, static_cast<double>(m_marked.end), m_model.total));
  const QRectF place(left, lineOf(area) - 5 - kTick - 2, right - left, kTick + 4 + 10);
  painter.fillRect(place, m_theme.color(Role::AccentFill));
  painter.setPen(QPen(m_theme.color(Role::Accent), 1));
  for (const double x : {place.left(), place.right()})
    painter.drawLine(QPointF(x, place.top()), QPointF(x, place.bottom()));
}

void ScrubberTrack::paint(QPainter& painter, const QRect& area) const {
  painter.setRenderHint(QPainter::Antialiasing, false);
  paintRange(painter, area);
  paintTicks(painter, area);
  const int line = lineOf(area);
  const double handle = xIn(area, handlePlace(), m_model.total);
  const QRectF whole(area.left() + kEdge, line - 1, area.width() - 2 * kEdge, 3);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(m_theme.color(Role::Outline));
  painter.drawRoundedRect(whole, 1.5, 1.5);
  painter.setBrush(m_theme.color(Role::Accent));
  painter.drawRoundedRect(QRectF(whole.left(), whole.top(), handle - whole.left(), 3), 1.5, 1.5);

  painter.setFont(m_theme.smallFont());
  const QFontMetrics metrics(m_theme.smallFont());
  painter.setPen(m_theme.color(Role::TextThird));
  double free = area.left();
  for (const RunLabel& run : m_model.runs) {
    const double x = xIn(area, static_cast<double>(run.index), m_model.total);
    // Thousands of runs may share a line that has room for a few names, so most names need not be measured.
    if (x < free) continue;
    const QString text = tr("run %1").arg(run.run);
    const int width = metrics.horizontalAdvance(text);
    const double left = std::min(x, static_cast<double>(area.right()) - width);
    if (left < free) continue;
    painter.drawText(QRectF(left, line + 6, width + 1, 16), Qt::AlignLeft | Qt::AlignVCenter, text);
    free = left + width + 3 * kSpace;
  }
  painter.setBrush(m_theme.color(Role::Surface));
  painter.setPen(QPen(m_theme.color(Role::Accent), 2.5));
  painter.drawEllipse(QPointF(handle, line + 0.5), kHandle - 1.5, kHandle - 1.5);
}

void ScrubberTrack::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  if (m_model.total == 0) return;
  paint(painter, rect());
  if (hasFocus()) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(m_theme.color(Role::Accent), 1));
    const double handle = xIn(rect(), handlePlace(), m_model.total);
    painter.drawEllipse(QPointF(handle, lineOf(rect()) + 0.5), kHandle + 2, kHandle + 2);
  }
}

void ScrubberTrack::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  m_isMarking = event->modifiers().testFlag(Qt::ShiftModifier);
  const std::size_t place = positionAt(event->position().x());
  if (m_isMarking) {
    m_anchor = place;
    markTo(static_cast<std::int64_t>(place));
  } else {
    drag(event->position().x());
  }
}

void ScrubberTrack::drag(double x) {
  const double place = placeAt(x);
  if (place != handlePlace()) Q_EMIT moved(place);
}

void ScrubberTrack::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) m_isMarking = false;
}

void ScrubberTrack::mouseMoveEvent(QMouseEvent* event) {
  if ((event->buttons() & Qt::LeftButton) == 0) return;
  if (m_isMarking)
    markTo(static_cast<std::int64_t>(positionAt(event->position().x())));
  else
    drag(event->position().x());
}

void ScrubberTrack::keyPressEvent(QKeyEvent* event) {
  if (takeRangeKey(*event)) return;
  const auto now = static_cast<std::int64_t>(m_model.position);
  switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Down:
      go(now - 1);
      break;
    case Qt::Key_Right:
    case Qt::Key_Up:
      go(now + 1);
      break;
    case Qt::Key_PageUp:
      go(now + pageStep());
      break;
    case Qt::Key_PageDown:
      go(now - pageStep());
      break;
    case Qt::Key_Home:
      go(0);
      break;
    case Qt::Key_End:
      go(static_cast<std::int64_t>(m_model.total));
      break;
    default:
      event->ignore();
  }
}

void ScrubberTrack::wheelEvent(QWheelEvent* event) {
  const int steps = event->angleDelta().y() > 0 ? kWheel : -kWheel;
  go(static_cast<std::int64_t>(m_model.position) + steps);
  event->accept();
}

QString ScrubberTrack::factsAt(double x) const {
  if (m_model.total == 0) return {};
  const std::size_t position = positionAt(x);
  const std::size_t bin =
      std::min(position == 0 ? 0 : position - 1, m_model.total - 1) / m_model.eventsPerBin;
  QStringList kinds;
  for (std::size_t kind = 0; bin < m_model.bins.size() && kind < kTickKinds; ++kind) {
    const std::uint32_t count = m_model.bins[bin].counts[kind];
    if (count > 0) kinds.push_back(tr("%1 × %2").arg(count).arg(tickName(static_cast<TickKind>(kind))));
  }
  QString text = tr("event %1 of %2").arg(position).arg(m_model.total);
  if (position > 0 && m_input && position <= m_input->trace->size()) {
    const trace::Event& event = m_input->trace->event(position - 1);
    text += QStringLiteral(": ") + EventNames(*m_input).of(event) + QLatin1Char('\n') + exactText(event);
  }
  // A pixel may have many events.
  if (m_model.eventsPerBin > 1 && !kinds.isEmpty())
    text += QLatin1Char('\n') + tr("here: %1").arg(kinds.join(tr(", ")));
  return text;
}

bool ScrubberTrack::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    // Texts of a prompt may look like markup.
    const QString facts =
        factsAt(help->pos().x()).toHtmlEscaped().replace(QLatin1Char('\n'), QLatin1String("<br>"));
    QToolTip::showText(help->globalPos(), facts.isEmpty() ? facts : QStringLiteral("<p>%1</p>").arg(facts),
                       this);
    return true;
  }
  return QAbstractSlider::event(event);
}

namespace {

/// One request in a range.
struct RangedRequest {
  RequestAccount account;
  const trace::RequestState* state = nullptr;
  bool isRecomputeReported = false;                           ///< an event reports the recomputed tokens
  std::set<std::pair<std::uint32_t, std::int32_t>> lookedUp;  ///< virtual blocks, up to the current event
};

/// Adds up the events of a range.
class RangeSum {
 public:
  RangeSum(const TraceStore& trace, const EventRange& range) : m_trace(trace), m_range(range) {}

  RangeTotals totals() {
    m_totals.range = m_range;
    const std::size_t before = m_range.begin == 0 ? 0 : m_range.begin - 1;
    m_totals.nanoseconds = m_trace.event(m_range.end - 1).time - m_trace.event(before).time;
    for (std::size_t index = m_range.begin; index < m_range.end; ++index) take(index);
    m_totals.requests = std::ssize(m_requests);
    return m_totals;
  }

 private:
  void take(std::size_t index) {
    const trace::Event& event = m_trace.event(index);
    if (std::holds_alternative<trace::BlockAllocated>(event.payload)) ++m_totals.allocated;
    if (const auto* removed = std::get_if<trace::BlockRemoved>(&event.payload))
      m_totals.evicted += removed->reason == trace::RemovalReason::Evicted ? 1 : 0;
    if (const auto* pass = std::get_if<trace::BatchComputed>(&event.payload)) {
      for (const trace::BatchEntry& entry : pass->entries) {
        RangedRequest* request = requestOf(entry.request);
        if (request == nullptr || entry.decode || entry.repeated) continue;
        const TokenAccount own =
            visible(*request, entry.segment, entry.begin, std::int64_t{entry.begin} + entry.count);
        m_totals.tokens.computed += own.computed;
        // If the policy reports its recomputed tokens, they are counted when it has chosen them.
        if (!request->isRecomputeReported) m_totals.tokens.again += own.again;
      }
      return;
    }
    RangedRequest* request = requestOf(event.request);
    if (request == nullptr) return;
    if (std::holds_alternative<trace::TokenGenerated>(event.payload)) ++m_totals.generated;
    if (const auto* lookup = std::get_if<trace::BlockLookedUp>(&event.payload)) {
      takeLookup(*request, *lookup);
    } else if (std::holds_alternative<trace::TokensRecomputed>(event.payload)) {
      takeAgain(*request, index, event.request);
    } else if (std::holds_alternative<trace::LayoutApplied>(event.payload)) {
      const TokenAccount prompt = request->account.prompt();
      m_totals.tokens.padding += prompt.padding;
      m_totals.tokens.delimiters += prompt.delimiters;
      m_totals.tokens.cropped += prompt.cropped;
    } else if (const auto* admitted = std::get_if<trace::RequestAdmitted>(&event.payload)) {
      // Some requests have only sums.
      if (request->state->segments.empty() && !admitted->resumed)
        m_totals.tokens += reportedAccount(*request->state).prompt;
    } else if (std::holds_alternative<trace::StepMetrics>(event.payload)) {
      if (request->state->segments.empty() && request->state->admittedAt < 0)
        m_totals.tokens += reportedAccount(*request->state).prompt;
    }
  }

  void takeLookup(RangedRequest& request, const trace::BlockLookedUp& lookup) {
    if (!request.lookedUp.emplace(lookup.segment, lookup.virtualIndex).second || lookup.tokens <= 0) return;
    const FoundTokens found = foundTokens(lookup, std::max(1, m_trace.newest().pool().blockSize()));
    const TokenAccount own = visible(request, lookup.segment, found.begin, found.begin + found.count);
    m_totals.tokens.hit += own.hit;
    m_totals.tokens.relocated += own.relocated;
  }

  /// The last of these events counts.
  void takeAgain(const RangedRequest& request, std::size_t index, RequestId id) {
    const RequestEvents* events = m_trace.request(id);
    if (events == nullptr || events->of<trace::TokensRecomputed>().back() != index) return;
    m_totals.tokens.again += request.account.prompt().again;
  }

  /// The tokens of the prompt among [begin, end) of a segment.
  static TokenAccount visible(const RangedRequest& request, std::uint32_t segment, std::int64_t begin,
                              std::int64_t end) {
    const auto& segments = request.state->segments;
    if (segment >= segments.size() || segments[segment].hidden) return {};
    begin = std::max<std::int64_t>(begin, segments[segment].visibleBegin);
    end = std::min(end, static_cast<std::int64_t>(segments[segment].tokens.size()));
    return begin < end ? request.account.of(segment, begin, end) : TokenAccount();
  }

  /// nullptr: none, or the replay of one that was counted.
  RangedRequest* requestOf(RequestId id) {
    if (id == 0) return nullptr;
    const auto known = m_requests.find(id);
    if (known != m_requests.end()) return &known->second;
    const RequestEvents* events = m_trace.request(id);
    const auto& states = m_trace.newest().progress().requests;
    const auto state = states.find(id);
    if (events == nullptr || events->run == 0 || state == states.end()) return nullptr;
    RangedRequest& request =
        m_requests
            .emplace(id, RangedRequest{.account = RequestAccount(m_trace, m_trace.size(), id),
                                       .state = &state->second,
                                       .isRecomputeReported = !events->of<trace::TokensRecomputed>().empty(),
                                       .lookedUp = {}})
            .first->second;
    for (const std::size_t index : events->of<trace::BlockLookedUp>()) {
      if (index >= m_range.begin) break;
      const auto* lookup = std::get_if<trace::BlockLookedUp>(&m_trace.event(index).payload);
      if (lookup != nullptr) request.lookedUp.emplace(lookup->segment, lookup->virtualIndex);
    }
    return &request;
  }

  const TraceStore& m_trace;
  EventRange m_range;
  RangeTotals m_totals;
  std::map<RequestId, RangedRequest> m_requests;
};

QString counted(std::int64_t count, const QString& one, const QString& many) {
  return count == 1 ? one : many.arg(count);
}

}  // namespace

RangeTotals rangeTotals(const TraceStore& trace, const EventRange& range) {
  if (range.isEmpty()) return {.range = range, .tokens = {}};
  return RangeSum(trace, range).totals();
}

QString rangeText(const RangeTotals& totals) {
  const std::size_t first = totals.range.begin + 1;
  const metrics::TokenAccount& tokens = totals.tokens;
  const auto of = [&tokens](std::string_view id) { return metricPhraseOf(id, tokens); };
  const QStringList parts{
      totals.range.end == first ? tr("event %1").arg(first)
                                : tr("events %1 to %2").arg(first).arg(totals.range.end),
      durationText(static_cast<double>(totals.nanoseconds) * 1e-9),
      counted(totals.requests, tr("1 request"), tr("%1 requests")),
      tr("tokens: %1")
          .arg(QStringList{of("computed-tokens"), of("hit-tokens"), of("relocated-tokens"),
                           of("tokens-computed-again"),
                           metricPhrase("generated-tokens", static_cast<double>(totals.generated))}
                   .join(tr(", "))),
      tr("blocks: %1, %2")
          .arg(metricPhrase("allocated-blocks", static_cast<double>(totals.allocated)),
               metricPhrase("evicted-blocks", static_cast<double>(totals.evicted)))};
  QStringList layout =
      accountWords({.padding = tokens.padding, .delimiters = tokens.delimiters, .cropped = tokens.cropped});
  return (parts + layout).join(tr(" · "));
}

}  // namespace spanscope::ui
