// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/diagnosis/log_costs_view.h"

#include "engine/doctor/causes.h"
#include "engine/jobs/log_quality.h"
#include "ui/session/job_estimate.h"
#include "ui/views/common/measure_page.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/text_painting.h"
#include "ui/views/common/text_tools.h"
#include "ui/views/common/wrapping_row.h"
#include "ui/words/table_words.h"
#include "ui/words/tr.h"

#include <QLabel>
#include <QPainter>
#include <QProgressBar>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include <algorithm>

namespace spanscope::ui {
namespace {

QString costsEmptyText() {
  return LogCostsView::tr(
      "The causes of cache misses and their cost appear here after the diagnosis of a log. Click Open log in "
      "Requests.");
}

double shareOfWhole(std::uint64_t value, std::uint64_t whole) {
  return static_cast<double>(value) / static_cast<double>(std::max<std::uint64_t>(1, whole));
}

QString costOf(std::uint64_t tokens, const LogState& state) {
  return QString::fromStdString(doctor::costText(tokens, state.settings.prices));
}

QString qualityOf(const doctor::Way& way) {
  return QString::fromStdString(doctor::qualityText(way.quality));
}

/// The request that lost the most tokens for a cause.
std::optional<std::size_t> costliest(const doctor::LogReport& report, doctor::CauseId cause) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < report.requests.size(); ++i) {
    const doctor::RequestReport& request = report.requests[i];
    if (request.findings.empty() || request.findings.front().finding.cause != cause) continue;
    if (!found || report.requests[*found].lost < request.lost) found = i;
  }
  return found;
}

}  // namespace

std::vector<LogBarGroup> logBarsOf(const LogState& state) {
  const doctor::LogReport& report = *state.report;
  std::vector<LogBarGroup> groups;
  LogBarGroup causes{.title = tr("Causes by cost"),
                     .help = tr("Tokens that the server computed, but could have reused. Click a bar to "
                                "select its most expensive request."),
                     .bars = {}};
  std::uint64_t most = 0;
  for (const doctor::CauseTotal& total : report.causes) most = std::max(most, total.lost);
  for (const doctor::CauseTotal& total : report.causes) {
    if (total.lost == 0) continue;
    const doctor::Cause& cause = doctor::causeOf(total.cause);
    causes.bars.push_back({.name = causeWord(cause.name),
                           .value = costOf(total.lost, state),
                           .length = shareOfWhole(total.lost, most),
                           .role = BlockRole::Computed,
                           .help = tr("Requests: %1. %2 %3")
                                       .arg(total.requests)
                                       .arg(causeWord(cause.sentence), causeWord(cause.cure))
                                       .trimmed(),
                           .request = costliest(report, total.cause)});
  }
  if (!causes.bars.empty()) groups.push_back(std::move(causes));

  LogBarGroup ways{
      .title = tr("Cost of each way to send this log"),
      .help =
          tr("For each way to send the requests: computed prompt tokens (dotted) and cached prompt tokens."),
      .bars = {}};
  if (const std::string note = doctor::qualityNote(report); !note.empty())
    ways.help += QLatin1Char('\n') + QString::fromStdString(note);
  std::uint64_t longest = 0;
  for (const doctor::Way& way : report.ways) longest = std::max(longest, way.prompt);
  for (const doctor::Way& way : report.ways)
    ways.bars.push_back({.name = causeWord(way.name),
                         .value = costOf(way.computed, state),
                         .length = shareOfWhole(way.computed, longest),
                         .rest = shareOfWhole(way.prompt - std::min(way.prompt, way.computed), longest),
                         .role = BlockRole::Computed,
                         .restRole = BlockRole::Hit,
                         .help = way.quality ? tr("Quality: %1").arg(qualityOf(way)) : QString(),
                         .quality = way.quality ? qualityOf(way) : QString()});
  if (!ways.bars.empty() && !report.requests.empty()) groups.push_back(std::move(ways));

  LogBarGroup distances{.title = tr("Requests since the last use"),
                        .help = tr("Reused tokens by the number of requests since their last use. A larger "
                                   "number needs a larger pool."),
                        .bars = {}};
  std::uint64_t highest = 0;
  const std::vector<doctor::ReuseDistance> found = doctor::reuseDistances(report);
  for (const doctor::ReuseDistance& one : found) highest = std::max(highest, one.cached);
  for (const doctor::ReuseDistance& one : found)
    distances.bars.push_back({.name = one.to == 1 ? tr("The previous request")
                                      : one.from == one.to
                                          ? tr("%1 requests earlier").arg(one.to)
                                          : tr("%1 to %2 requests earlier").arg(one.from).arg(one.to),
                              .value = costOf(one.cached, state),
                              .length = shareOfWhole(one.cached, highest),
                              .role = BlockRole::Hit});
  if (!distances.bars.empty()) groups.push_back(std::move(distances));
  return groups;
}

LogQualityState logQualityOf(const ViewInput& input) {
  LogQualityState state;
  const auto log = measured<LogDiagnosisKind>(input.measured);
  if (log == nullptr || !log->isComplete()) return state;
  state.isPossible = true;
  if (log->isSampling) {
    state.isRunning = true;
    state.doing = tr("Choosing requests…");
    return state;
  }
  const MeasuredJob* job = findMeasured(input.measured, jobs::LogQualityJob::kId);
  if (job == nullptr) return state;
  const jobs::LogQuality& quality = *measured<jobs::LogQualityJob>(input.measured);
  state.isRunning = job->isRunning();
  state.progress = quality.progress();
  if (state.isRunning) {
    state.doing = withTimeLeft(job->secondsLeft, eventText(jobs::LogQualityJob::activity(quality)));
  } else if (!job->problem.isEmpty()) {
    state.doing = tr("The measurement stopped: %1").arg(job->problem);
  } else if (const std::vector<std::string> problems = quality.problems(); !problems.empty()) {
    state.doing = QString::fromStdString(problems.front());
  }
  return state;
}

LogCostsView::LogCostsView(QWidget* parent)
    : InputView(InputPart::Measured, Pace::MayWait, parent), m_bars(new LogBars(this)) {
  setAccessibleName(tr("Costs"));
  m_progress = makeMeasureProgress(this);
  auto* page = new QVBoxLayout(this);
  page->setContentsMargins(0, 0, 0, 0);
  page->setSpacing(0);
  page->addWidget(makeControls());
  page->addWidget(m_progress);
  page->addWidget(m_bars, 1);
  setFocusProxy(m_bars);
  const auto choose = [this](const QModelIndex& index) {
    const LogBar* bar = m_bars->barAt(index.row());
    if (bar != nullptr && bar->request)
      Q_EMIT commandWanted(QStringLiteral("log.choose:%1").arg(*bar->request));
  };
  connect(m_bars, &QAbstractItemView::clicked, this, choose);
  connect(m_bars, &QAbstractItemView::activated, this, choose);
}

QWidget* LogCostsView::makeControls() {
  constexpr int kMostRequests = 1000;
  constexpr int kUsualRequests = 8;
  m_controls = new QWidget(this);
  auto* row = new WrappingRow(m_controls);
  row->setContentsMargins(2 * kSpace, kSpace, 2 * kSpace, kSpace);
  row->setSpacing(kSpace);
  m_requests = new QSpinBox(m_controls);
  m_requests->setRange(1, kMostRequests);
  m_requests->setValue(kUsualRequests);
  m_requests->setPrefix(tr("Max requests: "));
  m_requests->setAccessibleName(tr("Max number of requests to measure for each way"));
  m_requests->setToolTip(tr("Set the max number of requests to measure for each way"));
  m_measure = new QPushButton(m_controls);
  connect(m_measure, &QPushButton::clicked, this, [this] {
    Q_EMIT commandWanted(QStringLiteral("log.quality:") +
                         (m_isMeasuring ? QStringLiteral("stop") : QString::number(m_requests->value())));
  });
  m_doing = new QLabel(m_controls);
  m_doing->setTextFormat(Qt::PlainText);
  row->addWidget(m_requests);
  row->addWidget(m_measure);
  row->addWidget(m_doing);
  m_controls->hide();
  return m_controls;
}

void LogCostsView::showQuality() {
  const LogQualityState state = logQualityOf(*input());
  m_isMeasuring = state.isRunning;
  m_controls->setVisible(state.isPossible);
  m_requests->setEnabled(!state.isRunning);
  m_measure->setText(state.isRunning ? tr("Stop") : tr("Measure quality"));
  m_measure->setToolTip(
      state.isRunning
          ? tr("Stop the measurement and keep the measured requests")
          : tr("Measure on the model of the current query how much each way changes the answers"));
  m_doing->setFont(theme().smallFont());
  colorLabel(*m_doing, theme(), Role::TextSecond);
  m_doing->setText(state.doing);
  m_doing->setVisible(!state.doing.isEmpty());
  m_progress->setVisible(state.isRunning);
  m_progress->setValue(static_cast<int>(state.progress * kProgressSteps));
}

void LogCostsView::refresh() {
  if (input() == nullptr) return;
  const auto state = measured<LogDiagnosisKind>(input()->measured);
  std::vector<LogBarGroup> groups;
  if (state != nullptr) groups = logBarsOf(*state);
  showQuality();
  m_bars->setVisible(!groups.empty());
  m_bars->show(std::move(groups), theme());
  update();
}

void LogCostsView::paintEvent(QPaintEvent* event) {
  InputView::paintEvent(event);
  QPainter painter(this);
  painter.fillRect(rect(), theme().color(Role::Surface));
  if (m_bars->groups().empty()) paintEmptyText(painter, rect(), costsEmptyText(), theme());
}

QString LogCostsView::csv() const {
  if (input() == nullptr) return {};
  const auto state = measured<LogDiagnosisKind>(input()->measured);
  if (state == nullptr) return {};
  QString text;
  for (const LogBarGroup& group : logBarsOf(*state))
    for (const LogBar& bar : group.bars) text += csvLine({group.title, bar.name, bar.value, bar.quality});
  return text.isEmpty() ? text : csvLine({tr("group"), tr("name"), tr("value"), tr("quality")}) + text;
}

void LogCostsView::paintTo(QPainter& painter, const QSize& size) {
  if (input() != nullptr) refresh();
  const QRect area(QPoint(), size);
  painter.fillRect(area, theme().color(Role::Surface));
  if (m_bars->groups().empty())
    paintEmptyText(painter, area, costsEmptyText(), theme());
  else
    m_bars->paint(painter, area);
}

ViewInfo logCostsRow() {
  return {.id = QStringLiteral("log-costs"),
          .title = tr("Costs"),
          .help = tr("Costs of a log: by cause, by the way to send the log, and by the age of reused tokens"),
          .make = makeViewOf<LogCostsView>,
          .places = {{LayoutId::Diagnose, Room::Low, Room::Large, 1, 0, 0, 100, true}}};
}

}  // namespace spanscope::ui
