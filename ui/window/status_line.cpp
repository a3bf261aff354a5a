// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/status_line.h"

#include "ui/document/unread_text.h"
#include "ui/session/prompt_parts.h"
#include "ui/session/token_account.h"
#include "ui/theme/theme.h"
#include "ui/views/common/elided_text.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/request_blocks.h"
#include "ui/views/problems/problems_view.h"
#include "ui/window/dock_host.h"
#include "ui/window/focus_keeper.h"
#include "ui/window/window_parts.h"
#include "ui/window/workspace.h"
#include "ui/words/glossary.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QToolButton>

#include <algorithm>
#include <iterator>
#include <utility>

namespace spanscope::ui {

namespace {

constexpr QLatin1String kGap("     ");

/// Compares two times in words: "15× faster than run 1", "12 % slower than run 1". Empty: a time is not
/// known.
QString speedChange(double now, double before, const QString& base) {
  const QString change = changeText(now, before);
  if (change.isEmpty()) return {};
  if (!change.startsWith(QStringLiteral("▼ ")) && !change.startsWith(QStringLiteral("▲ ")))
    return tr("as fast as %1").arg(base);
  QString amount = change.mid(2);
  if (amount.startsWith(QLatin1Char('+')) || amount.startsWith(QStringLiteral("−"))) amount.remove(0, 1);
  return now < before ? tr("%1 faster than %2").arg(amount, base) : tr("%1 slower than %2").arg(amount, base);
}

std::size_t filledBlocks(const trace::PoolReplay& pool) {
  return static_cast<std::size_t>(metrics::countsOf(pool).filled());
}

}  // namespace

StatusModel makeStatusModel(const ViewInput& input) {
  StatusModel status;
  if (input.position < input.trace->size()) {
    status.event = input.position;
    status.events = input.trace->size();
  }
  const trace::Replay& state = input.state();
  const trace::Progress& progress = state.progress();
  status.anyRan = !progress.runs.empty();
  if (state.pool().blockCount() > 0) {
    status.blocks = state.pool().blockCount() - 1;
    status.blockSize = state.pool().blockSize();
    status.blocksInUse = filledBlocks(state.pool());
  }
  // Runs that begin after the shown time do not count.
  const std::vector<ListedRun> runs = listRuns(input, false);
  const auto isShown = [&](const ListedRun& run) { return run.isOwn && progress.runs.contains(run.run); };
  const auto shown = std::find_if(runs.rbegin(), runs.rend(), isShown);
  if (shown == runs.rend()) {
    status.anyKept = std::any_of(runs.begin(), runs.end(), [](const ListedRun& each) { return each.isOwn; });
    return status;
  }
  const trace::RunState& run = progress.runs.at(shown->run);
  status.run = shown->run;
  status.outcome = run.outcome;
  status.isPredicted = isPredicted(*shown);
  const RunValues measured = valuesOf(progress, run);
  status.isOfSteps = run.requests.size() > 1;
  status.timeToFirstToken = measured.timeToFirstToken.value_or(0);
  status.interTokenLatency = measured.interTokenLatency.value_or(0);
  TokenAccount account;
  for (const RequestId id : run.requests) {
    account += RequestAccount(input, id).prompt();
    const RequestEvents* const events = input.trace->request(id);
    status.hasLookups |= events != nullptr && !events->of<trace::BlockLookedUp>().empty();
  }
  status.promptTokens = account.total();
  status.cachedTokens = account.cached();
  status.accountWords = accountWords(account);
  for (auto before = std::next(shown); before != runs.rend(); ++before) {
    if (!isLike(*shown, *before) || isPredicted(*before)) continue;
    // The speed of the shown run could contain the answer to the question of a lesson.
    if (input.prediction.isWithheld) break;
    status.basis = basisOf(*shown);
    status.previous = basisOf(*before);
    status.previousTimeToFirstToken =
        valuesOf(*before->progress, before->state()).timeToFirstToken.value_or(0);
    break;
  }
  for (const RequestId id : run.requests) {
    const auto found = progress.requests.find(id);
    if (found == progress.requests.end()) continue;
    const trace::RequestState& request = found->second;
    if (!status.outcome && request.outcome == trace::StepOutcome::Failed) ++status.failed;
    if (request.phase != trace::RequestPhase::Running || request.generatedTokens != 0 ||
        request.firstTokenAt >= 0)
      continue;
    status.read += readTokens(request);
    status.toRead += request.promptTokens;
  }
  // stateAt() replaces the state that is used above, so it is called last.
  if (run.outcome && status.blocks > 0) {
    const std::size_t end = input.trace->endOf(status.run);
    if (end < input.position) status.blocksInUse = filledBlocks(input.trace->stateAt(end).pool());
  }
  return status;
}

QString statusText(const StatusModel& status) {
  QStringList parts;
  if (status.events > 0) parts << tr("Earlier state: event %1 of %2").arg(status.event).arg(status.events);
  if (status.run == 0) {
    // If an older state from before the first run is shown, something has run after all.
    if (parts.isEmpty())
      parts << (status.anyKept  ? tr("This query has not run since Spanscope was started")
                : status.anyRan ? tr("This query has not run yet")
                                : tr(/*id:nothing-run-yet*/ "Nothing has run yet"));
    return parts.join(kGap);
  }
  QString run = tr("Run %1").arg(status.run) + QLatin1Char(' ');
  if (!status.outcome)
    run += status.events > 0 ? tr("was running") : tr("running");
  else if (*status.outcome == trace::RunOutcome::Finished)
    run += status.isPredicted ? tr(/*id:run-predicted*/ "predicted") : tr("finished");
  else if (*status.outcome == trace::RunOutcome::Stopped)
    run += tr("stopped");
  else
    run += tr("failed");
  parts << run;
  if (status.failed > 0)
    parts << (status.failed == 1 ? tr("1 step failed") : tr("%1 steps failed").arg(status.failed));
  if (!status.outcome && status.toRead > 0)
    parts << tr("read %1 of %2 tokens (%3)")
                 .arg(status.read)
                 .arg(status.toRead)
                 .arg(shareText(status.read, status.toRead));
  if (status.timeToFirstToken > 0) {
    const QString time = metricPhrase("time-to-first-token", status.timeToFirstToken);
    QString text = status.isOfSteps ? tr("median %1").arg(time) : time;
    if (status.previousTimeToFirstToken > 0) {
      const QString change = speedChange(status.timeToFirstToken, status.previousTimeToFirstToken,
                                         baseName(status.basis, status.previous));
      if (!change.isEmpty()) text += tr(", %1").arg(change);
    }
    parts << text;
  }
  if (status.interTokenLatency > 0) parts << metricPhrase("inter-token-latency", status.interTokenLatency);
  if (status.promptTokens > 0) {
    // The text is short, so that the end of the line fits.
    parts << metricPhrase("cached-tokens", tr("%1 of %2").arg(status.cachedTokens).arg(status.promptTokens));
    for (const QString& words : status.accountWords) parts.back() += tr(", %1").arg(words);
  }
  if (status.blocks > 0)
    parts << tr("%1 %2 of %3").arg(metricShortName("pool-blocks")).arg(status.blocksInUse).arg(status.blocks);
  return parts.join(kGap);
}

NoticeBar::NoticeBar(QWidget* parent) : QFrame(parent) {
  setObjectName(QStringLiteral("noticeBar"));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(3 * kSpace, kSpace, 2 * kSpace, kSpace);
  row->setSpacing(2 * kSpace);
  auto* mark = new QLabel(QStringLiteral("⚠"));
  mark->setAccessibleName(tr("Note on the query"));
  row->addWidget(mark);
  m_text = new QLabel;
  m_text->setTextFormat(Qt::PlainText);
  m_text->setWordWrap(true);
  m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
  row->addWidget(m_text, 1);
  m_buttons = new QHBoxLayout;
  m_buttons->setSpacing(2 * kSpace);
  row->addLayout(m_buttons);
  hide();
}

void NoticeBar::setNotice(const Notice& notice) {
  if (notice == m_notice) return;
  m_notice = notice;
  while (QLayoutItem* item = m_buttons->takeAt(0)) {
    // The user may have just clicked this button, so the button is deleted later.
    item->widget()->hide();
    item->widget()->deleteLater();
    delete item;
  }
  m_text->setText(notice.text);
  setAccessibleName(notice.text);
  for (const NoticeAnswer answer : notice.answers) {
    auto* button = new QPushButton(answerText(answer));
    connect(button, &QPushButton::clicked, this, [this, answer] { Q_EMIT answered(answer); });
    m_buttons->addWidget(button);
  }
  setVisible(!notice.text.isEmpty());
}

QString runHintText(const StatusModel& status) {
  if (status.run == 0 || status.outcome != trace::RunOutcome::Finished) return {};
  // Most servers report no lookups, so Explain has no reason to show.
  if (status.events > 0 || status.promptTokens <= 0 || !status.hasLookups) return {};
  const QString all = QString::number(status.promptTokens);
  if (status.cachedTokens <= 0)
    return tr("%1: see how").arg(metricPart("computed-tokens", all, "prompt-tokens", all));
  return tr("%1: see why")
      .arg(metricPart("cached-tokens", QString::number(status.cachedTokens), "prompt-tokens", all));
}

RunHint::RunHint(QWidget* parent)
    : QWidget(parent), m_link(new QToolButton(this)), m_close(new QToolButton(this)) {
  m_link->setAutoRaise(true);
  m_link->setFocusPolicy(Qt::TabFocus);
  m_link->setToolTip(tr("Open Explain to see which blocks were reused and computed"));
  m_close->setAutoRaise(true);
  m_close->setFocusPolicy(Qt::TabFocus);
  m_close->setText(QStringLiteral("✕"));
  m_close->setToolTip(tr("Do not show this hint again"));
  m_close->setAccessibleName(m_close->toolTip());
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  row->addWidget(m_link);
  row->addWidget(m_close);
  connect(m_link, &QToolButton::clicked, this, &RunHint::wanted);
  connect(m_close, &QToolButton::clicked, this, &RunHint::dismissed);
  hide();
}

void RunHint::setText(const QString& text) {
  m_link->setText(text);
  m_link->setAccessibleName(text);
  setVisible(!text.isEmpty());
}

namespace {

/// Key of the setting that the user knows the Explain layout.
constexpr const char* kHintSetting = "hints/explainKnown";

constexpr int kMessageTime = 8000;  // milliseconds a message stays in the status bar
constexpr int kPause = 150;         // milliseconds without typing after which problems are counted

}  // namespace

StatusLine::StatusLine(QSettings& settings, Workspace& workspace, DockHost& docks, const PageArea& pages)
    : m_settings(settings), m_workspace(workspace), m_docks(docks), m_pages(pages) {
  setObjectName(QStringLiteral("statusBar"));
  keepFocusIn(*this);
  setSizeGripEnabled(false);
  m_status = new ElidedLabel;
  m_status->setObjectName(QStringLiteral("runState"));
  m_status->setAccessibleName(tr(/*id:state-newest-run*/ "State of the newest run"));
  m_status->setToolTip(
      QStringList(
          {tr("State of the newest run of this query at the shown time. Each time is the median of the "
              "steps of this run. Changes compare with the previous run of this query on the same model."),
           explain(u"ttft"), explain(u"itl"), explain(u"cached"), explain(u"pool")})
          .join(QLatin1Char('\n')));
  m_statusRight = new QLabel;
  m_hint = new RunHint;
  connect(m_hint, &RunHint::wanted, this, &StatusLine::explainRun);
  connect(m_hint, &RunHint::dismissed, this, [this] {
    m_settings.setValue(QLatin1String(kHintSetting), true);
    refresh();
  });
  connect(this, &QStatusBar::messageChanged, this, [this](const QString& message) {
    if (message.isEmpty()) setToolTip(QString());
    // Qt hides the label under a message only if the window is already visible.
    m_status->setVisible(message.isEmpty());
  });
  // Otherwise both texts would be visible at the start.
  connect(this, &QStatusBar::messageChanged, m_status,
          [this](const QString& message) { m_status->setVisible(message.isEmpty()); });
  addWidget(m_status, 1);
  addPermanentWidget(m_hint);
  addPermanentWidget(m_statusRight);
  setContentsMargins(8, 0, 8, 0);
  m_countProblems.setSingleShot(true);
  m_countProblems.setInterval(0);
  connect(&m_countProblems, &QTimer::timeout, this, &StatusLine::countProblems);
}

void StatusLine::refresh() {
  StatusModel status = makeStatusModel(m_workspace.input());
  if (!m_comparesTimes) status.previousTimeToFirstToken = 0;
  const OpenDocument* shown = m_workspace.current();
  const QString activity = m_workspace.engine().activity(shown == nullptr ? EngineJob::kProgram : shown->id);
  m_status->setText(activity.isEmpty() ? statusText(status) : activity);
  showHint(status);
  showRight();
}

void StatusLine::setComparesTimes(bool comparesTimes) {
  m_comparesTimes = comparesTimes;
  refresh();
}

void StatusLine::refreshHint() {
  showHint(makeStatusModel(m_workspace.input()));
  showRight();
}

/// Shows the problems and, without a hint, two settings. Beside a hint, only real problems are shown. Their
/// space is for the end of the state.
void StatusLine::showRight() {
  const OpenDocument* shown = m_workspace.current();
  QString text;
  if (shown != nullptr) {
    const document::RunSettings& settings = shown->model->document().settings;
    text = problemText();
    // Block size and seed are settings of runs, which other sources do not have.
    if (m_hint->isHidden() && shown->source->takesRuns())
      text += tr("     block %1     seed %2").arg(settings.blockSize).arg(settings.seed);
    else if (text == tr("no problems"))
      text.clear();
  }
  // Beside the hint, the state needs all the width.
  m_statusRight->setContentsMargins(m_hint->isHidden() ? 2 * kSpace : 0, 0, 0, 0);
  m_statusRight->setText(text);
}

/// Shows the hint only in the Author layout, and until the user has opened Explain.
void StatusLine::showHint(const StatusModel& status) {
  if (m_settings.value(QLatin1String(kHintSetting)).toBool()) return m_hint->setText({});
  const QString text = m_pages.isWelcome() ? QString() : runHintText(status);
  const bool isSeen = !text.isEmpty() && m_docks.layout() == LayoutId::Explain;
  if (isSeen) m_settings.setValue(QLatin1String(kHintSetting), true);
  m_hint->setText(m_docks.layout() == LayoutId::Author ? text : QString());
}
void StatusLine::explainRun() {
  m_settings.setValue(QLatin1String(kHintSetting), true);
  m_docks.setLayout(LayoutId::Explain);
  if (const RequestId request = m_workspace.input().shownRequest(); request != 0) {
    Selection selection;
    selection.request = request;
    // The first computed block shows the reason for all later ones.
    const ViewInput& input = m_workspace.input();
    const RequestBlocks blocks = requestBlocks(*input.trace, input.state(), request);
    for (const SegmentVirtualBlocks& segment : blocks.segments) {
      const auto missed = std::ranges::find_if(segment.blocks, [](const VirtualBlockFacts& block) {
        return block.lookup != 0 && block.outcome != trace::LookupOutcome::Hit &&
               block.outcome != trace::LookupOutcome::Relocated;
      });
      if (missed == segment.blocks.end()) continue;
      selection.block = missed->place;
      break;
    }
    m_workspace.select(selection);
    m_docks.bring(QStringLiteral("why"));
  }
  refresh();
}

QString StatusLine::problemText() {
  // This function is called with every frame of a run, but the document changes rarely.
  const ViewInput& input = m_workspace.input();
  const std::optional<QString> path = m_workspace.documentPath();
  // Counting takes milliseconds in a large query, so it waits for a pause in typing.
  if (m_checked != input.document || m_checkedWith != input.tokenizer ||
      m_checkedCounts != input.tokensCounted || m_checkedDevices != input.devices || m_checkedPath != path ||
      m_checkedPrediction != input.prediction.newest) {
    m_checkedPath = path;
    m_checkedPrediction = input.prediction.newest;
    m_checked = input.document;
    m_checkedWith = input.tokenizer;
    m_checkedCounts = input.tokensCounted;
    m_checkedDevices = input.devices;
    m_countProblems.start();
  }
  return m_problems;
}
void StatusLine::countProblems() {
  m_countProblems.setInterval(kPause);
  QString problems = tr("no problems");
  if (m_checked != nullptr) {
    std::vector<Problem> found =
        m_finder.find(*m_checked, m_checkedWith, m_workspace.input().tokenCounts, m_checkedDevices.get(),
                      m_checkedPath, document::kNoNode, m_checkedPrediction.get());
    removeLessonWarnings(m_workspace.model(), found);
    if (DocumentModel* model = m_workspace.model())
      found = withUnread(UnreadText::of(*model), std::move(found));
    const std::vector<ProblemRow> rows = problemRows(*m_checked, std::move(found));
    if (!rows.empty()) problems = problemSummary(rows);
  }
  if (std::exchange(m_problems, problems) != problems) refresh();
}
void StatusLine::say(const QString& text) {
  m_complaint.reset();
  showMessage(text, kMessageTime);
}
void StatusLine::complain(const QString& text) {
  m_complaint = complaintNow();
  // Texts at the right cover the end of a long sentence. The tool tip has the whole sentence.
  const int covered = m_statusRight->width() + (m_hint->isVisible() ? m_hint->width() : 0) + 8 * kSpace;
  showMessage(isVisible() ? fontMetrics().elidedText(text, Qt::ElideRight, width() - covered) : text);
  setToolTip(text);
}
void StatusLine::forgetComplaint() {
  if (!m_complaint || *m_complaint == complaintNow()) return;
  m_complaint.reset();
  clearMessage();
}
StatusLine::Complaint StatusLine::complaintNow() const {
  const OpenDocument* current = m_workspace.current();
  if (current == nullptr) return {};
  return {.tab = current->id,
          .document = current->model->snapshot(),
          .path = current->model->filePath(),
          .typed = UnreadText::of(*current->model).typed()};
}

}  // namespace spanscope::ui
