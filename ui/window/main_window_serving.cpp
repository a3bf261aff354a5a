// SPDX-License-Identifier: GPL-3.0-or-later
// The part of MainWindow that serves other programs and shows what they ask.
#include "ui/session/serving.h"
#include "ui/window/main_window.h"
#include "ui/window/requests_panel.h"

#include <QStatusBar>
#include <QToolButton>

#include <algorithm>

namespace spanscope::ui {
namespace {

constexpr const char* kServePort = "serve/port";
constexpr const char* kServeTexts = "serve/keepTexts";
constexpr int kHighestPort = 65535;

ServeSettings serveSettings(const QSettings& settings) {
  ServeSettings wanted;
  bool isNumber = false;
  const int port = settings.value(QLatin1String(kServePort), wanted.port).toInt(&isNumber);
  if (isNumber && port >= 0 && port <= kHighestPort) wanted.port = port;
  wanted.keepsTexts = settings.value(QLatin1String(kServeTexts), wanted.keepsTexts).toBool();
  return wanted;
}

}  // namespace

void MainWindow::makeRequests() {
  m_requests = new RequestsPanel;
  m_requests->setSettings(serveSettings(m_settings));
  m_requests->hide();
  connect(m_requests, &RequestsPanel::switchWanted, this, [this] { perform(QStringLiteral("run.serve")); });
  connect(m_requests, &RequestsPanel::settingsChosen, this, [this](const ServeSettings& settings) {
    m_settings.setValue(QLatin1String(kServePort), settings.port);
    m_settings.setValue(QLatin1String(kServeTexts), settings.keepsTexts);
  });
  connect(m_requests, &RequestsPanel::requestWanted, this, &MainWindow::showRequest);
  connect(m_requests, &RequestsPanel::keepWanted, this, &MainWindow::keepRequest);
  connect(m_requests, &RequestsPanel::closeWanted, m_requests, &QWidget::hide);

  m_servingState = new QToolButton;
  m_servingState->setObjectName(QStringLiteral("servingState"));
  m_servingState->setAutoRaise(true);
  m_servingState->setFocusPolicy(Qt::TabFocus);
  m_servingState->setToolTip(tr("Shows or hides the requests of other programs"));
  m_servingState->hide();
  connect(m_servingState, &QToolButton::clicked, this, [this] { perform(QStringLiteral("run.requests")); });
  statusBar()->insertPermanentWidget(1, m_servingState);
}

void MainWindow::toggleServing() {
  Serving& serving = m_workspace.serving();
  if (serving.state()->phase == ServingPhase::Off) {
    // It tells how it goes, also where it fails.
    m_requests->show();
    m_workspace.serve(m_requests->settings());
  } else {
    serving.stop();
  }
  showServing();
}

void MainWindow::showServing() {
  const std::shared_ptr<const ServingState>& state = m_workspace.serving().state();
  const OpenDocument* current = m_workspace.current();
  m_requests->setState(state, current == nullptr ? 0 : current->served);
  const QString text = servingStatus(*state);
  m_servingState->setText(text);
  m_servingState->setAccessibleName(text);
  m_servingState->setVisible(!text.isEmpty());
}

void MainWindow::showRequest(std::uint64_t number) {
  const auto& documents = m_workspace.documents();
  const auto preview =
      std::find_if(documents.begin(), documents.end(), [](const auto& each) { return each->isPreview; });
  OpenDocument* before = preview == documents.end() ? nullptr : preview->get();
  if (before != nullptr && (before->served == number || m_workspace.isUsed(*before))) before = nullptr;
  OpenDocument* const shown = m_workspace.showServed(number);
  if (shown == nullptr) {
    say(tr("Request %1 is not listed any more.").arg(number));
    return;
  }
  if (shown->isPreview && m_autosaves.count(shown->id) == 0) watch(*shown);
  m_pages->showDocuments();
  if (before != nullptr && before != shown) closeTab(*before);
  refresh();
}

void MainWindow::keepRequest(std::uint64_t number) {
  showRequest(number);
  OpenDocument* const shown = m_workspace.current();
  if (shown == nullptr || shown->served != number) return;
  if (const auto entry = m_workspace.serving().entry(number); entry && !entry->keepsTexts)
    return say(tr("The texts of request %1 are not kept: there is no query to keep.").arg(number));
  if (!shown->isPreview) return say(tr("Request %1 is kept already.").arg(number));
  shown->isPreview = false;
  // It is asked about before it is lost.
  shown->model->markUnsaved();
  say(tr("%1 is a document of yours now: it can be edited, run again and saved.").arg(shown->model->title()));
  refresh();
}

}  // namespace spanscope::ui
