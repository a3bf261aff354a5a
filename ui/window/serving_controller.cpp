// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/serving_controller.h"

#include "ui/session/serving.h"
#include "ui/window/page_area.h"
#include "ui/window/requests_panel.h"
#include "ui/window/status_line.h"
#include "ui/window/workspace.h"

#include <QSettings>
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

ServingController::ServingController(const WindowParts& parts)
    : m_settings(parts.settings),
      m_workspace(parts.workspace),
      m_pages(parts.pages),
      m_status(parts.status),
      m_requests(new RequestsPanel),
      m_servingState(new QToolButton) {
  m_requests->setSettings(serveSettings(m_settings));
  m_requests->hide();
  connect(m_requests, &RequestsPanel::switchWanted, this,
          [this] { Q_EMIT commandWanted(QStringLiteral("run.serve")); });
  connect(m_requests, &RequestsPanel::settingsChosen, this, [this](const ServeSettings& settings) {
    m_settings.setValue(QLatin1String(kServePort), settings.port);
    m_settings.setValue(QLatin1String(kServeTexts), settings.keepsTexts);
  });
  connect(m_requests, &RequestsPanel::requestWanted, this, &ServingController::showRequest);
  connect(m_requests, &RequestsPanel::keepWanted, this, &ServingController::keepRequest);
  connect(m_requests, &RequestsPanel::closeWanted, m_requests, &QWidget::hide);

  m_servingState->setObjectName(QStringLiteral("servingState"));
  m_servingState->setAutoRaise(true);
  m_servingState->setFocusPolicy(Qt::TabFocus);
  m_servingState->setToolTip(tr("Show or hide the requests of other programs"));
  m_servingState->hide();
  connect(m_servingState, &QToolButton::clicked, this,
          [this] { Q_EMIT commandWanted(QStringLiteral("run.requests")); });
  m_status.insertPermanentWidget(1, m_servingState);
}

void ServingController::addCommands(CommandHandlers& rows) {
  rows.add(
      "run.serve", [] { return true; }, [this] { toggleServing(); },
      [this] {
        return m_workspace.serving().state()->phase == ServingPhase::Off ? tr("Serve this model")
                                                                         : tr("Stop server");
      });
  rows.add("run.requests", [this] { m_requests->setVisible(m_requests->isHidden()); });
  rows.addWithArgument(
      "run.show-request", [] { return true; },
      [this](const QString& number) { showRequest(number.toULongLong()); });
  rows.addWithArgument(
      "run.keep-request", [] { return true; },
      [this](const QString& number) { keepRequest(number.toULongLong()); });
}

void ServingController::setTheme(const Theme& theme) {
  m_requests->setTheme(theme);
}

void ServingController::toggleServing() {
  Serving& serving = m_workspace.serving();
  if (serving.state()->phase == ServingPhase::Off) {
    // The panel shows the state of the server, and the error if it does not start.
    m_requests->show();
    m_workspace.serve(m_requests->settings());
  } else {
    serving.stop();
  }
  refresh();
}

void ServingController::refresh() {
  const std::shared_ptr<const ServingState>& state = m_workspace.serving().state();
  const OpenDocument* current = m_workspace.current();
  m_requests->setState(state, current == nullptr ? 0 : current->served);
  const QString text = servingStatus(*state);
  m_servingState->setText(text);
  m_servingState->setAccessibleName(text);
  m_servingState->setVisible(!text.isEmpty());
}

void ServingController::showRequest(std::uint64_t number) {
  const auto& documents = m_workspace.documents();
  const auto preview =
      std::find_if(documents.begin(), documents.end(), [](const auto& each) { return each->isPreview; });
  OpenDocument* before = preview == documents.end() ? nullptr : preview->get();
  if (before != nullptr && (before->served == number || m_workspace.isUsed(*before))) before = nullptr;
  OpenDocument* const shown = m_workspace.showServed(number);
  if (shown == nullptr) {
    m_status.say(tr("Request %1 is no longer in the list.").arg(number));
    return;
  }
  Q_EMIT documentShown(*shown);
  m_pages.showDocuments();
  if (before != nullptr && before != shown) Q_EMIT closeWanted(*before);
  Q_EMIT changed();
}

void ServingController::keepRequest(std::uint64_t number) {
  showRequest(number);
  OpenDocument* const shown = m_workspace.current();
  if (shown == nullptr || shown->served != number) return;
  if (const auto entry = m_workspace.serving().entry(number); entry && !entry->keepsTexts)
    return m_status.say(tr("The texts of request %1 were not kept, so there is no query.").arg(number));
  if (!shown->isPreview) return m_status.say(tr("Request %1 is already a document.").arg(number));
  shown->isPreview = false;
  // The document counts as unsaved, so that closing it asks.
  shown->model->markUnsaved();
  m_status.say(tr("%1 is now a document that you can edit, run and save.").arg(shown->model->title()));
  Q_EMIT changed();
}

}  // namespace spanscope::ui
