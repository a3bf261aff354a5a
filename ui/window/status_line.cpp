// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/status_line.h"

#include "ui/document/unread_text.h"
#include "ui/views/common/elided_text.h"
#include "ui/views/problems/problems_view.h"
#include "ui/window/dock_host.h"
#include "ui/window/notice_bar.h"
#include "ui/window/page_area.h"
#include "ui/window/status_model.h"
#include "ui/window/workspace.h"
#include "ui/words/glossary.h"

#include <utility>

namespace spanscope::ui {
namespace {

/// Key of the setting that the user knows the Explain layout.
constexpr const char* kHintSetting = "hints/explainKnown";

constexpr int kMessageTime = 8000;  // milliseconds a message stays in the status bar
constexpr int kPause = 150;         // milliseconds without typing after which problems are counted

}  // namespace

StatusLine::StatusLine(QSettings& settings, Workspace& workspace, DockHost& docks, const PageArea& pages)
    : m_settings(settings), m_workspace(workspace), m_docks(docks), m_pages(pages) {
  setObjectName(QStringLiteral("statusBar"));
  setSizeGripEnabled(false);
  m_status = new ElidedLabel;
  m_status->setObjectName(QStringLiteral("runState"));
  m_status->setAccessibleName(tr(/*id:state-newest-run*/ "State of the newest run"));
  m_status->setToolTip(
      QStringList(
          {tr("State of the newest run of this document at the shown time. Each time is the median of the "
              "steps of this run. Changes compare with the previous run of this document on the same model."),
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
  const StatusModel status = makeStatusModel(m_workspace.input());
  const OpenDocument* shown = m_workspace.current();
  const QString activity = m_workspace.engine().activity(shown == nullptr ? EngineJob::kProgram : shown->id);
  m_status->setText(activity.isEmpty() ? statusText(status) : activity);
  showHint(status);
  showRight();
}

void StatusLine::refreshHint() {
  showHint(makeStatusModel(m_workspace.input()));
  showRight();
}

/// Shows the problems and, without a hint, two settings. The space of the settings is for the end of the text
/// beside a hint.
void StatusLine::showRight() {
  const OpenDocument* shown = m_workspace.current();
  QString text;
  if (shown != nullptr) {
    const document::RunSettings& settings = shown->model->document().settings;
    text = problemText();
    if (m_hint->isHidden())
      text += tr("     block %1     seed %2").arg(settings.blockSize).arg(settings.seed);
  }
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
    m_workspace.select(selection);
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
