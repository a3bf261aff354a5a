// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/stream_tabs.h"

#include "engine/base/error.h"
#include "engine/trace/predicted.h"
#include "ui/session/gateway_source.h"
#include "ui/session/watch_source.h"
#include "ui/window/dock_host.h"
#include "ui/window/document_saver.h"
#include "ui/window/status_line.h"
#include "ui/window/stream_dialogs.h"
#include "ui/window/workspace.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QMainWindow>
#include <QToolButton>

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr int kStreamFrame = 33;  // milliseconds between two drains
constexpr int kMostState = 80;    // characters in the status line

/// The query of a gateway before its first request.
document::Document gatewayNote() {
  constexpr document::Rect kPlace{0, 0, 360, 100};
  document::Document document;
  document.notes.push_back({.id = 1,
                            .text = StreamTabs::tr("Each request appears here as a query, with the reason "
                                                   "for each token that was not cached.")
                                        .toStdString(),
                            .area = kPlace});
  return document;
}

}  // namespace

StreamTabs::StreamTabs(const WindowParts& parts, QObject* parent)
    : QObject(parent), m_parts(parts), m_state(new QToolButton) {
  m_state->setObjectName(QStringLiteral("streamState"));
  m_state->setAutoRaise(true);
  m_state->setFocusPolicy(Qt::TabFocus);
  m_state->hide();
  connect(m_state, &QToolButton::clicked, this, &StreamTabs::stopCurrent);
  m_parts.status.insertPermanentWidget(1, m_state);
  m_frame.setInterval(kStreamFrame);
  connect(&m_frame, &QTimer::timeout, this, &StreamTabs::drain);
}

void StreamTabs::addCommands(CommandHandlers& rows) {
  addCommand(rows, "run.watch", false, tr("Watch server…"), tr("Stop watching"));
  addCommand(rows, "run.gateway", true, tr("Start gateway…"), tr("Stop gateway"));
}

void StreamTabs::addCommand(CommandHandlers& rows, const char* id, bool isGateway, const QString& start,
                            const QString& stop) {
  const auto canStop = [this, isGateway] {
    const Stream* shown = current();
    return shown != nullptr && shown->isGateway == isGateway && shown->source->isOpen();
  };
  rows.add(
      id, [] { return true; },
      [this, canStop, isGateway] {
        if (canStop())
          stopCurrent();
        else if (isGateway)
          openGatewayDialog();
        else
          openWatchDialog();
      },
      [canStop, start, stop] { return canStop() ? stop : start; });
}

void StreamTabs::openWatchDialog() {
  const workbench::ServerList& servers = m_parts.workspace.serverRuns().servers();
  auto* dialog =
      new WatchDialog(WatchChoice::last(m_parts.settings), servers, m_parts.lastFolder, &m_parts.window);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &WatchDialog::wanted, this, [this, dialog, &servers] {
    const WatchChoice choice = dialog->choice();
    try {
      addWatch(choice.title(),
               std::make_shared<WatchSource>(watchConfigOf(choice, servers), choice.file.toStdString()));
    } catch (const Failure& failure) {
      return dialog->complain(QString::fromUtf8(failure.what()), m_parts.workspace.input().theme);
    }
    choice.keep(m_parts.settings);
    dialog->accept();
  });
  dialog->open();
}

void StreamTabs::openGatewayDialog() {
  const workbench::ServerList& servers = m_parts.workspace.serverRuns().servers();
  document::RunSettings used;
  m_parts.workspace.useModelInUse(used);
  GatewayChoice last = GatewayChoice::last(m_parts.settings);
  if (last.model.isEmpty()) last.model = QString::fromStdString(used.model);
  auto* dialog = new GatewayDialog(last, servers, m_parts.lastFolder, &m_parts.window);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &GatewayDialog::wanted, this, [this, dialog, &servers] {
    const GatewayChoice choice = dialog->choice();
    try {
      addGateway(GatewaySource::open(gatewayConfigOf(choice, servers), choice.file.toStdString()));
    } catch (const Failure& failure) {
      return dialog->complain(QString::fromUtf8(failure.what()), m_parts.workspace.input().theme);
    }
    choice.keep(m_parts.settings);
    dialog->accept();
  });
  dialog->open();
}

void StreamTabs::addWatch(const QString& title, std::shared_ptr<StreamedSource> source) {
  m_streams.push_back({.tab = 0, .title = tr("Watch %1").arg(title), .source = std::move(source)});
  m_parts.status.say(tr("Connecting to %1…").arg(title));
  m_frame.start();
}

void StreamTabs::addGateway(const std::vector<std::shared_ptr<GatewaySource>>& sources) {
  for (const std::shared_ptr<GatewaySource>& source : sources) {
    m_streams.push_back({.tab = 0, .title = source->title(), .source = source, .isGateway = true});
    openTab(m_streams.back(), std::make_unique<DocumentModel>(gatewayNote()));
  }
  m_frame.start();
}

QString StreamTabs::address() {
  const Stream* stream = current();
  if (stream == nullptr || !stream->source->isOpen()) return {};
  const auto* gateway = dynamic_cast<const GatewaySource*>(stream->source.get());
  return gateway == nullptr ? QString() : gateway->url() + QStringLiteral("/v1");
}

Notice StreamTabs::notice() {
  if (const QString url = address(); !url.isEmpty())
    return {.text = tr("Send requests to the gateway at %1").arg(url),
            .answers = {NoticeAnswer::CopyAddress}};
  const OpenDocument* shown = m_parts.workspace.current();
  if (shown == nullptr || !shown->source || !shown->source->trace()) return {};
  if (!trace::isWatched(shown->source->trace()->newest().progress().program)) return {};
  return {.text = tr(
              /*id:watched-tab*/ "This tab shows the requests of a watched server. Each node represents one "
                                 "kind of request. You cannot run these nodes."),
          .answers = {}};
}

void StreamTabs::copyAddress() {
  const QString url = address();
  if (url.isEmpty()) return;
  QGuiApplication::clipboard()->setText(url);
  m_parts.status.say(tr("Copied %1").arg(url));
}

StreamTabs::Stream* StreamTabs::current() {
  const OpenDocument* shown = m_parts.workspace.current();
  if (shown == nullptr) return nullptr;
  const auto found = std::ranges::find(m_streams, shown->id, &Stream::tab);
  return found == m_streams.end() ? nullptr : &*found;
}

void StreamTabs::stopCurrent() {
  Stream* stream = current();
  if (stream == nullptr || !stream->source->isOpen()) return;
  stream->source->stop();
  drain();
  Q_EMIT changed();
}

/// Takes the events of all streams. Only a change of the shown trace refreshes the views.
void StreamTabs::drain() {
  std::erase_if(m_streams, [this](const Stream& stream) {
    return stream.tab != 0 && m_parts.workspace.find(stream.tab) == nullptr;
  });
  bool isAnyOpen = false;
  for (Stream& stream : m_streams) {
    StreamedSource& source = *stream.source;
    const bool wasOpen = source.isOpen();
    if (source.drain()) show(stream);
    // A watch that has never got an event has no tab for its problem.
    if (stream.tab == 0 && source.hasEnded()) {
      m_parts.status.complain(source.problem());
      source.stop();
    }
    if (wasOpen && !source.isOpen()) {
      if (!source.fileProblem().isEmpty()) m_parts.status.complain(source.fileProblem());
      Q_EMIT changed();
    }
    isAnyOpen = isAnyOpen || source.isOpen();
  }
  std::erase_if(m_streams, [](const Stream& stream) { return stream.tab == 0 && !stream.source->isOpen(); });
  if (!isAnyOpen) m_frame.stop();
  refresh();
}

void StreamTabs::openTab(Stream& stream, std::unique_ptr<DocumentModel> model) {
  model->setTitle(stream.title);
  OpenDocument& document = m_parts.workspace.open(std::move(model));
  document.source = stream.source;
  document.following = true;
  stream.tab = document.id;
  bindRuns(document);
  Q_EMIT documentOpened(document);
  m_parts.pages.showDocuments();
  m_parts.docks.setLayout(LayoutId::Explain);
  Q_EMIT changed();
  Q_EMIT m_parts.workspace.traces().changed();
}

void StreamTabs::show(Stream& stream) {
  const bool hasNewRun = stream.source->takeNewRun();
  if (stream.tab == 0) {
    // The first run has the query of the tab.
    if (hasNewRun) openTab(stream, std::make_unique<DocumentModel>(documentOf(*stream.source->trace())));
    return;
  }
  OpenDocument& document = *m_parts.workspace.find(stream.tab);
  const bool isCurrent = m_parts.workspace.current() == &document;
  const std::size_t dropped = stream.source->dropped();
  document.position -= std::min(document.position, dropped);
  if (hasNewRun) {
    bindRuns(document);
    showNewest(document);
  }
  if (isCurrent) Q_EMIT m_parts.workspace.traces().changed();
}

/// Shows the query of the newest run, if the tab follows the stream.
void StreamTabs::showNewest(OpenDocument& document) {
  const trace::Progress& now = document.source->trace()->newest().progress();
  if (document.following && now.runs.begin() != now.runs.end())
    m_parts.workspace.traces().showQuery(document, now.runs.rbegin()->first);
}

void StreamTabs::refresh() {
  const Stream* stream = current();
  if (stream != nullptr) showNewest(*m_parts.workspace.current());
  const bool isShown = stream != nullptr && stream->source->isOpen();
  m_state->setVisible(isShown);
  if (!isShown) return;
  const QString problem = stream->source->problem();
  const bool isCutOff = stream->source->hasEnded() || !problem.isEmpty();
  QString state = problem.isEmpty() ? stream->source->stateText() : problem;
  // The tool tip has the whole problem.
  if (state.size() > kMostState) state = state.left(kMostState) + QChar(u'…');
  const QString text = (isCutOff ? tr("○ %1") : tr("● %1")).arg(state);
  if (m_state->text() != text) {
    m_state->setText(text);
    m_state->setAccessibleName(text);
  }
  const QString action =
      stream->isGateway ? tr("Click to stop the gateway") : tr("Click to stop watching the server");
  m_state->setToolTip(problem.isEmpty() ? action : problem + QStringLiteral("\n") + action);
}

}  // namespace spanscope::ui
