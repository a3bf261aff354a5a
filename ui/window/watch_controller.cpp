// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/watch_controller.h"

#include "engine/base/error.h"
#include "engine/text/tokenizer.h"
#include "ui/theme/theme.h"
#include "ui/views/common/text_tools.h"
#include "ui/window/dock_host.h"
#include "ui/window/status_line.h"
#include "ui/window/workspace.h"
#include "ui/words/metric_words.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QMainWindow>
#include <QPushButton>
#include <QSettings>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr const char* kWatchUrl = "watch/url";
constexpr const char* kWatchEvents = "watch/events";
constexpr const char* kWatchReplay = "watch/replay";
constexpr const char* kWatchModel = "watch/model";
constexpr int kWatchFrame = 33;   // milliseconds between two drains
constexpr int kWatchWidth = 560;  // pixels
constexpr int kFieldWidth = 320;  // pixels

QStringList wordsOf(const QString& text) {
  return text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
}

WatchChoice lastChoice(const QSettings& settings) {
  return {.url = settings.value(QLatin1String(kWatchUrl)).toString(),
          .events = settings.value(QLatin1String(kWatchEvents)).toString(),
          .replay = settings.value(QLatin1String(kWatchReplay)).toString(),
          .model = settings.value(QLatin1String(kWatchModel)).toString(),
          .file = {}};
}

void keepChoice(QSettings& settings, const WatchChoice& choice) {
  settings.setValue(QLatin1String(kWatchUrl), choice.url);
  settings.setValue(QLatin1String(kWatchEvents), choice.events);
  settings.setValue(QLatin1String(kWatchReplay), choice.replay);
  settings.setValue(QLatin1String(kWatchModel), choice.model);
}

/// A field with a button that chooses its text.
QHBoxLayout* withButton(QLineEdit* field, QPushButton* button) {
  auto* row = new QHBoxLayout;
  row->addWidget(field, 1);
  row->addWidget(button);
  return row;
}

}  // namespace

watch::WatchConfig watchConfigOf(const WatchChoice& choice, const workbench::ServerList& servers) {
  watch::WatchConfig config;
  const std::string url = choice.url.trimmed().toStdString();
  if (const std::optional<workbench::NamedServer> named = servers.find(url)) {
    config.url = named->url;
    config.access = workbench::accessTo(*named);
  } else {
    config.url = url;
  }
  const QStringList events = wordsOf(choice.events);
  const QStringList replays = wordsOf(choice.replay);
  if (replays.size() > events.size())
    throw Failure(errorAt("replay", std::to_string(replays.size()) + " endpoints",
                          "at most one replay endpoint for each endpoint of KV events"));
  for (qsizetype i = 0; i < events.size(); ++i) {
    config.publishers.push_back(
        {.endpoint = events[i].toStdString(),
         .replayEndpoint = i < replays.size() ? replays[i].toStdString() : std::string()});
  }
  if (const QString model = choice.model.trimmed(); !model.isEmpty()) {
    config.model = model.toStdString();
    config.tokenizer = text::loadTokenizer(config.model);
  }
  return config;
}

QString watchText(const watch::WatchState& state, bool hasBlocks) {
  QStringList parts{state.server.empty() ? WatchController::tr("connecting…")
                                         : QString::fromStdString(state.server)};
  const QLocale locale;
  if (hasBlocks) {
    parts += WatchController::tr("%1 events").arg(locale.toString(static_cast<qulonglong>(state.events)));
    parts += metricPhrase("cached-blocks", static_cast<double>(state.cached));
    if (state.unknown > 0) parts += WatchController::tr("%1 with unknown content").arg(state.unknown);
  }
  if (state.tasks > 0) parts += WatchController::tr("%1 requests").arg(state.tasks);
  if (state.tokens && state.tokens->prompt > 0)
    parts += metricPhrase(
        "hit-rate", static_cast<double>(state.tokens->cached) / static_cast<double>(state.tokens->prompt));
  return parts.join(WatchController::tr(" · "));
}

WatchDialog::WatchDialog(const WatchChoice& choice, const workbench::ServerList& servers,
                         const QString& folder, QWidget* parent)
    : QDialog(parent),
      m_folder(folder),
      m_url(new QComboBox(this)),
      m_events(new QLineEdit(choice.events, this)),
      m_replay(new QLineEdit(choice.replay, this)),
      m_model(new QLineEdit(choice.model, this)),
      m_file(new QLineEdit(choice.file, this)),
      m_problem(new QLabel(this)),
      m_watch(nullptr) {
  setWindowTitle(tr("Watch server"));
  m_url->setEditable(true);
  for (const workbench::NamedServer& server : servers.list())
    m_url->addItem(QString::fromStdString(server.name));
  m_url->setCurrentText(choice.url);
  m_url->lineEdit()->setPlaceholderText(tr("e.g. http://gpu-3:8000"));
  m_url->setToolTip(tr("Set the HTTP address of the server, which reports metrics or slots"));
  m_events->setPlaceholderText(tr("e.g. tcp://gpu-3:5557"));
  m_events->setToolTip(
      tr("Set the endpoint of KV events. For several data-parallel ranks, set one endpoint per rank, "
         "separated by spaces"));
  m_replay->setPlaceholderText(tr("e.g. tcp://gpu-3:5558"));
  m_replay->setToolTip(tr("Set the endpoint from which Spanscope requests missing events again"));
  m_model->setPlaceholderText(tr("e.g. /models/smollm2"));
  m_model->setToolTip(tr("Set the folder of the server's model, to show tokens as text"));
  m_file->setPlaceholderText(tr("none"));
  m_file->setToolTip(tr("Set the trace file in which Spanscope saves all events"));
  m_url->setMinimumWidth(kFieldWidth);
  auto* help = new QLabel(tr("vLLM and SGLang report their blocks at an endpoint of KV events. llama-server "
                             "reports its slots at its HTTP address."),
                          this);
  help->setWordWrap(true);
  auto* chooseModelButton = new QPushButton(tr("Choose…"), this);
  auto* chooseFileButton = new QPushButton(tr("Choose…"), this);
  connect(chooseModelButton, &QPushButton::clicked, this, &WatchDialog::chooseModel);
  connect(chooseFileButton, &QPushButton::clicked, this, &WatchDialog::chooseFile);

  auto* form = new QFormLayout;
  form->setFieldGrowthPolicy(QFormLayout::ExpandingFieldsGrow);
  form->addRow(tr("Address"), m_url);
  form->addRow(tr("KV events"), m_events);
  form->addRow(tr("Replay"), m_replay);
  form->addRow(tr("Model folder"), withButton(m_model, chooseModelButton));
  form->addRow(tr("Record to file"), withButton(m_file, chooseFileButton));
  m_problem->setWordWrap(true);
  m_problem->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_problem->hide();
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
  m_watch = buttons->addButton(tr("Watch"), QDialogButtonBox::ActionRole);
  m_watch->setDefault(true);
  connect(m_watch, &QPushButton::clicked, this, &WatchDialog::wanted);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* column = new QVBoxLayout(this);
  column->addWidget(help);
  column->addLayout(form);
  column->addWidget(m_problem);
  column->addWidget(buttons);
  setMinimumWidth(kWatchWidth);
  m_url->setObjectName(QStringLiteral("watchUrl"));
  m_events->setObjectName(QStringLiteral("watchEvents"));
  m_watch->setObjectName(QStringLiteral("watchBegin"));
  m_problem->setObjectName(QStringLiteral("watchProblem"));
  connect(m_url, &QComboBox::editTextChanged, this, &WatchDialog::showChoice);
  connect(m_events, &QLineEdit::textChanged, this, &WatchDialog::showChoice);
  showChoice();
}

WatchChoice WatchDialog::choice() const {
  return {.url = m_url->currentText().trimmed(),
          .events = m_events->text().simplified(),
          .replay = m_replay->text().simplified(),
          .model = m_model->text().trimmed(),
          .file = m_file->text().trimmed()};
}

void WatchDialog::complain(const QString& problem, const Theme& theme) {
  colorLabel(*m_problem, theme, Role::Error);
  m_problem->setText(problem);
  m_problem->show();
}

void WatchDialog::chooseModel() {
  const QString path = QFileDialog::getExistingDirectory(this, tr("Model folder"), m_model->text());
  if (!path.isEmpty()) m_model->setText(QDir::toNativeSeparators(path));
}

void WatchDialog::chooseFile() {
  const QString path = chosenSavePath(this, tr("Record to file"), m_folder, tr("Recorded runs (*.trace)"));
  if (!path.isEmpty()) m_file->setText(QDir::toNativeSeparators(path));
}

void WatchDialog::showChoice() {
  const WatchChoice now = choice();
  m_watch->setEnabled(!now.url.isEmpty() || !now.events.isEmpty());
  m_replay->setEnabled(!now.events.isEmpty());
}

WatchController::WatchController(const WindowParts& parts, QObject* parent)
    : QObject(parent), m_parts(parts), m_state(new QToolButton) {
  m_state->setObjectName(QStringLiteral("watchState"));
  m_state->setAutoRaise(true);
  m_state->setFocusPolicy(Qt::TabFocus);
  m_state->hide();
  connect(m_state, &QToolButton::clicked, this, &WatchController::stopCurrent);
  m_parts.status.insertPermanentWidget(1, m_state);
  m_frame.setInterval(kWatchFrame);
  connect(&m_frame, &QTimer::timeout, this, &WatchController::drain);
}

void WatchController::addCommands(CommandHandlers& rows) {
  rows.add(
      "run.watch", [] { return true; },
      [this] {
        if (const Watched* watched = current(); watched != nullptr && watched->source->isWatching())
          stopCurrent();
        else
          openDialog();
      },
      [this] {
        const Watched* watched = current();
        return watched != nullptr && watched->source->isWatching() ? tr("Stop watching")
                                                                   : tr("Watch server…");
      });
}

void WatchController::openDialog() {
  auto* dialog = new WatchDialog(lastChoice(m_parts.settings), m_parts.workspace.serverRuns().servers(),
                                 m_parts.lastFolder, &m_parts.window);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &WatchDialog::wanted, this, [this, dialog] {
    const WatchChoice choice = dialog->choice();
    try {
      begin(choice);
    } catch (const Failure& failure) {
      return dialog->complain(QString::fromUtf8(failure.what()), m_parts.workspace.input().theme);
    }
    keepChoice(m_parts.settings, choice);
    dialog->accept();
  });
  dialog->open();
}

void WatchController::begin(const WatchChoice& choice) {
  const QString name = choice.url.isEmpty() ? wordsOf(choice.events).front() : choice.url;
  auto source = std::make_shared<WatchSource>(watchConfigOf(choice, m_parts.workspace.serverRuns().servers()),
                                              choice.file.toStdString());
  m_watched.push_back({.tab = 0, .title = name, .source = std::move(source)});
  m_parts.status.say(tr("Connecting to %1…").arg(name));
  m_frame.start();
}

WatchController::Watched* WatchController::current() {
  const OpenDocument* shown = m_parts.workspace.current();
  if (shown == nullptr) return nullptr;
  const auto found = std::ranges::find(m_watched, shown->id, &Watched::tab);
  return found == m_watched.end() ? nullptr : &*found;
}

void WatchController::stopCurrent() {
  Watched* watched = current();
  if (watched == nullptr || !watched->source->isWatching()) return;
  const std::string problem = watched->source->stop();
  if (!problem.empty()) m_parts.status.complain(QString::fromStdString(problem));
  drain();
  Q_EMIT changed();
}

/// Takes the events of all watches. Only a change of the shown trace refreshes the views.
void WatchController::drain() {
  std::erase_if(m_watched, [this](const Watched& watched) {
    return watched.tab != 0 && m_parts.workspace.find(watched.tab) == nullptr;
  });
  bool isWatching = false;
  for (Watched& watched : m_watched) {
    if (watched.source->drain()) show(watched);
    if (watched.tab == 0 && watched.source->state().hasEnded) {
      m_parts.status.complain(QString::fromStdString(watched.source->state().problem));
      watched.source->stop();
    }
    isWatching = isWatching || watched.source->isWatching();
  }
  std::erase_if(m_watched,
                [](const Watched& watched) { return watched.tab == 0 && !watched.source->isWatching(); });
  if (!isWatching) m_frame.stop();
  refresh();
}

void WatchController::show(Watched& watched) {
  if (watched.tab == 0) {
    // The first run has the query of the tab.
    if (!watched.source->takeNewRun()) return;
    auto model = std::make_unique<DocumentModel>(documentOf(*watched.source->trace()));
    model->setTitle(watched.title);
    OpenDocument& document = m_parts.workspace.open(std::move(model));
    document.source = watched.source;
    document.following = true;
    watched.tab = document.id;
    bindRuns(document);
    Q_EMIT documentOpened(document);
    m_parts.pages.showDocuments();
    m_parts.docks.setLayout(LayoutId::Explain);
    Q_EMIT changed();
    Q_EMIT m_parts.workspace.traces().changed();
    return;
  }
  OpenDocument& document = *m_parts.workspace.find(watched.tab);
  const std::size_t dropped = watched.source->dropped();
  document.position -= std::min(document.position, dropped);
  if (watched.source->takeNewRun()) bindRuns(document);
  if (m_parts.workspace.current() == &document) Q_EMIT m_parts.workspace.traces().changed();
}

void WatchController::refresh() {
  const Watched* watched = current();
  const bool isShown = watched != nullptr && watched->source->isWatching();
  m_state->setVisible(isShown);
  if (!isShown) return;
  const watch::WatchState state = watched->source->state();
  const bool hasBlocks = watched->source->reports().of(Fact::Prompts) == Reporting::Reported;
  const QString text = state.hasEnded ? tr("○ Watching ended") : tr("● %1").arg(watchText(state, hasBlocks));
  if (m_state->text() != text) {
    m_state->setText(text);
    m_state->setAccessibleName(text);
  }
  const QString problem = QString::fromStdString(state.problem);
  m_state->setToolTip(problem.isEmpty() ? tr("Click to stop watching the server")
                                        : tr("%1. Click to stop watching the server.").arg(problem));
}

}  // namespace spanscope::ui
