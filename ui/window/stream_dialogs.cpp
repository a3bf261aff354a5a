// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/stream_dialogs.h"

#include "engine/base/error.h"
#include "engine/text/tokenizer.h"
#include "engine/workbench/model_names.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/servers/simulator_prediction.h"
#include "ui/theme/theme.h"
#include "ui/views/common/text_tools.h"
#include "ui/window/window_parts.h"

#include <QCheckBox>
#include <QComboBox>
#include <QCoreApplication>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>
#include <QUrl>
#include <QVBoxLayout>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr const char* kWatchUrl = "watch/url";
constexpr const char* kWatchEvents = "watch/events";
constexpr const char* kWatchReplay = "watch/replay";
constexpr const char* kWatchModel = "watch/model";
constexpr const char* kGatewayUrl = "gateway/url";
constexpr const char* kGatewayPort = "gateway/port";
constexpr const char* kGatewayModel = "gateway/model";
constexpr const char* kGatewayNote = "gateway/orderNote";
constexpr int kHighestPort = 65535;
constexpr int kDialogWidth = 560;  // pixels
constexpr int kFieldWidth = 320;   // pixels

QStringList wordsOf(const QString& text) {
  return text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
}

/// A list of servers, in which the user can also type an address.
QComboBox* serverField(const QString& url, const workbench::ServerList& servers, const QString& example,
                       QWidget* parent) {
  auto* field = new QComboBox(parent);
  field->setEditable(true);
  for (const workbench::NamedServer& server : servers.list())
    field->addItem(QString::fromStdString(server.name));
  field->setCurrentText(url);
  field->lineEdit()->setPlaceholderText(example);
  field->setMinimumWidth(kFieldWidth);
  return field;
}

/// A field with a button that chooses its text.
QHBoxLayout* withChooser(QLineEdit* field, const std::function<QString()>& choose) {
  auto* button = new QPushButton(WatchDialog::tr("Choose…"), field->parentWidget());
  QObject::connect(button, &QPushButton::clicked, field, [field, choose] {
    const QString path = choose();
    if (!path.isEmpty()) field->setText(QDir::toNativeSeparators(path));
  });
  auto* row = new QHBoxLayout;
  row->addWidget(field, 1);
  row->addWidget(button);
  return row;
}

QHBoxLayout* modelRow(QLineEdit* field) {
  return withChooser(field, [field] {
    return QFileDialog::getExistingDirectory(field->window(), WatchDialog::tr("Model folder"), field->text());
  });
}

QHBoxLayout* fileRow(QLineEdit* field, const QString& folder) {
  field->setPlaceholderText(WatchDialog::tr("none"));
  field->setToolTip(WatchDialog::tr("Set the trace file in which Spanscope saves all events"));
  return withChooser(field, [field, folder] {
    return chosenSavePath(field->window(), WatchDialog::tr("Record to file"), folder,
                          WatchDialog::tr("Recorded runs (*.trace)"));
  });
}

/// Makes the dialog high enough for its wrapped texts. Qt counts only one line of each text.
void fitHeight(QDialog& dialog) {
  dialog.layout()->activate();
  const int least = dialog.layout()->totalHeightForWidth(dialog.width());
  dialog.setMinimumHeight(least);
  dialog.resize(dialog.width(), std::max(dialog.height(), least));
}

/// Lays out a dialog: a help text, the form, the problem, and the buttons. Returns the button of the action.
QPushButton* layOut(QDialog& dialog, const QString& help, QFormLayout* form, QLabel& problem,
                    const QString& action) {
  auto* text = new QLabel(help, &dialog);
  text->setWordWrap(true);
  form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  problem.setWordWrap(true);
  problem.setTextInteractionFlags(Qt::TextSelectableByMouse);
  problem.hide();
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, &dialog);
  QPushButton* const button = buttons->addButton(action, QDialogButtonBox::ActionRole);
  button->setDefault(true);
  QObject::connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
  auto* column = new QVBoxLayout(&dialog);
  column->addWidget(text);
  column->addLayout(form);
  column->addWidget(&problem);
  column->addWidget(buttons);
  dialog.setMinimumWidth(kDialogWidth);
  dialog.resize(kDialogWidth, 0);
  fitHeight(dialog);
  return button;
}

void showProblem(QLabel& label, const QString& problem, const Theme& theme) {
  colorLabel(label, theme, Role::Error);
  label.setText(problem);
  label.show();
  fitHeight(*qobject_cast<QDialog*>(label.window()));
}

/// The address and the access of a server of the list, or of an address.
std::pair<std::string, remote::HttpAccess> accessOf(const QString& typed,
                                                    const workbench::ServerList& servers) {
  const std::string url = typed.trimmed().toStdString();
  if (const std::optional<workbench::NamedServer> named = servers.find(url))
    return {named->url, workbench::accessTo(*named)};
  return {url, {}};
}

}  // namespace

WatchChoice WatchChoice::last(const QSettings& settings) {
  return {.url = settings.value(QLatin1String(kWatchUrl)).toString(),
          .events = settings.value(QLatin1String(kWatchEvents)).toString(),
          .replay = settings.value(QLatin1String(kWatchReplay)).toString(),
          .model = settings.value(QLatin1String(kWatchModel)).toString(),
          .file = {}};
}

void WatchChoice::keep(QSettings& settings) const {
  settings.setValue(QLatin1String(kWatchUrl), url);
  settings.setValue(QLatin1String(kWatchEvents), events);
  settings.setValue(QLatin1String(kWatchReplay), replay);
  settings.setValue(QLatin1String(kWatchModel), model);
}

QString WatchChoice::title() const {
  if (url.isEmpty()) return wordsOf(events).value(0);
  const QString authority = QUrl(url).authority();
  return authority.isEmpty() ? url : authority;
}

watch::WatchConfig watchConfigOf(const WatchChoice& choice, const workbench::ServerList& servers) {
  watch::WatchConfig config;
  std::tie(config.url, config.access) = accessOf(choice.url, servers);
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

WatchDialog::WatchDialog(const WatchChoice& choice, const workbench::ServerList& servers,
                         const QString& folder, QWidget* parent)
    : QDialog(parent),
      m_url(serverField(choice.url, servers, tr("e.g. http://gpu-3:8000"), this)),
      m_events(new QLineEdit(choice.events, this)),
      m_replay(new QLineEdit(choice.replay, this)),
      m_model(new QLineEdit(choice.model, this)),
      m_file(new QLineEdit(choice.file, this)),
      m_problem(new QLabel(this)),
      m_watch(nullptr) {
  setWindowTitle(tr("Watch server"));
  m_url->setToolTip(tr("Set the HTTP address of the server, which reports metrics or slots"));
  m_events->setPlaceholderText(tr("e.g. tcp://gpu-3:5557"));
  m_events->setToolTip(
      tr("Set the endpoint of KV events. For several data-parallel ranks, set one endpoint per rank, "
         "separated by spaces"));
  m_replay->setPlaceholderText(tr("e.g. tcp://gpu-3:5558"));
  m_replay->setToolTip(tr("Set the endpoint from which Spanscope requests missing events again"));
  m_model->setPlaceholderText(tr("e.g. /models/smollm2"));
  m_model->setToolTip(tr("Set the folder of the server's model, to show tokens as text"));
  auto* form = new QFormLayout;
  form->addRow(tr("Address"), m_url);
  form->addRow(tr("KV events"), m_events);
  form->addRow(tr("Replay"), m_replay);
  form->addRow(tr("Model folder"), modelRow(m_model));
  form->addRow(tr("Record to file"), fileRow(m_file, folder));
  m_watch =
      layOut(*this,
             tr("vLLM and SGLang report their blocks at an endpoint of KV events. llama-server reports its "
                "slots at its HTTP address."),
             form, *m_problem, tr("Watch"));
  connect(m_watch, &QPushButton::clicked, this, &WatchDialog::wanted);
  m_url->setObjectName(QStringLiteral("watchUrl"));
  m_events->setObjectName(QStringLiteral("watchEvents"));
  m_replay->setObjectName(QStringLiteral("watchReplay"));
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
  showProblem(*m_problem, problem, theme);
}

void WatchDialog::showChoice() {
  const WatchChoice now = choice();
  m_watch->setEnabled(!now.url.isEmpty() || !now.events.isEmpty());
  m_replay->setEnabled(!now.events.isEmpty());
}

GatewayChoice GatewayChoice::last(const QSettings& settings) {
  GatewayChoice choice{.url = settings.value(QLatin1String(kGatewayUrl)).toString(),
                       .model = settings.value(QLatin1String(kGatewayModel)).toString(),
                       .file = {},
                       .hasOrderNote = settings.value(QLatin1String(kGatewayNote)).toBool()};
  bool isNumber = false;
  const int port = settings.value(QLatin1String(kGatewayPort), kPort).toInt(&isNumber);
  if (isNumber && port >= 0 && port <= kHighestPort) choice.port = port;
  return choice;
}

void GatewayChoice::keep(QSettings& settings) const {
  settings.setValue(QLatin1String(kGatewayUrl), url);
  settings.setValue(QLatin1String(kGatewayPort), port);
  settings.setValue(QLatin1String(kGatewayModel), model);
  settings.setValue(QLatin1String(kGatewayNote), hasOrderNote);
}

gateway::GatewayConfig gatewayConfigOf(const GatewayChoice& choice, const workbench::ServerList& servers) {
  document::RunSettings settings;
  settings.model = choice.model.trimmed().toStdString();
  gateway::GatewayConfig config;
  config.port = choice.port;
  // The name of a server can have spaces.
  const bool isName = servers.find(choice.url.trimmed().toStdString()).has_value();
  for (const QString& typed : isName ? QStringList{choice.url.trimmed()} : wordsOf(choice.url)) {
    gateway::UpstreamConfig upstream{.name = typed.toStdString(), .url = {}};
    std::tie(upstream.url, upstream.access) = accessOf(typed, servers);
    upstream.hasOrderNote = choice.hasOrderNote;
    if (const std::optional<workbench::NamedServer> named = servers.find(upstream.name)) {
      upstream.keepsOrder = named->keepsOrder;
      upstream.hasOrderNote |= named->hasOrderNote;
    }
    config.upstreams.push_back(std::move(upstream));
  }
  config.tokenizer = text::loadTokenizer(workbench::modelDirectoryOf(settings));
  config.chat = &workbench::chatTemplateOf(settings);
  config.model = workbench::modelNameOf(settings);
  config.tokenBytes = workbench::cachedTokenBytes(workbench::modelDirectoryOf(settings));
  config.program = "spanscope " + QCoreApplication::applicationVersion().toStdString();
  return config;
}

GatewayDialog::GatewayDialog(const GatewayChoice& choice, const workbench::ServerList& servers,
                             const QString& folder, QWidget* parent)
    : QDialog(parent),
      m_url(serverField(choice.url, servers, tr("e.g. http://gpu-3:8000 http://gpu-4:8000"), this)),
      m_port(new QSpinBox(this)),
      m_model(new QLineEdit(choice.model, this)),
      m_file(new QLineEdit(choice.file, this)),
      m_hasOrderNote(new QCheckBox(tr("Add a note with the written order"), this)),
      m_problem(new QLabel(this)) {
  setWindowTitle(tr("Start gateway"));
  m_url->setToolTip(tr("Set the servers that get the requests, separated by spaces"));
  m_port->setRange(0, kHighestPort);
  m_port->setSpecialValueText(tr("any"));
  m_port->setGroupSeparatorShown(false);
  m_port->setButtonSymbols(QAbstractSpinBox::NoButtons);
  m_port->setToolTip(tr("Set the port of the gateway; only programs on this machine can connect"));
  m_port->setValue(choice.port);
  m_model->setPlaceholderText(tr("the bundled model"));
  m_model->setToolTip(
      tr("Set the folder of the server's model; its tokenizer counts the tokens of the prompts"));
  auto* form = new QFormLayout;
  form->addRow(tr("Servers"), m_url);
  form->addRow(tr("Port"), m_port);
  form->addRow(tr("Model folder"), modelRow(m_model));
  form->addRow(tr("Record to file"), fileRow(m_file, folder));
  form->addRow(QString(), m_hasOrderNote);
  m_hasOrderNote->setObjectName(QStringLiteral("gatewayOrderNote"));
  m_hasOrderNote->setToolTip(
      tr("Add a message that states the original order of the documents, whenever another order is sent"));
  m_hasOrderNote->setChecked(choice.hasOrderNote);
  QPushButton* const begin =
      layOut(*this,
             tr("Your programs send their requests to the gateway. The gateway usually passes a request to "
                "the server with the most cached tokens of the prompt. A tab shows the requests."),
             form, *m_problem, tr("Start gateway"));
  connect(begin, &QPushButton::clicked, this, &GatewayDialog::wanted);
  m_url->setObjectName(QStringLiteral("gatewayUrl"));
  m_port->setObjectName(QStringLiteral("gatewayPort"));
  begin->setObjectName(QStringLiteral("gatewayBegin"));
  m_problem->setObjectName(QStringLiteral("gatewayProblem"));
  const auto showChoice = [this, begin] { begin->setEnabled(!m_url->currentText().trimmed().isEmpty()); };
  connect(m_url, &QComboBox::editTextChanged, this, showChoice);
  showChoice();
}

GatewayChoice GatewayDialog::choice() const {
  return {.url = m_url->currentText().trimmed(),
          .port = m_port->value(),
          .model = m_model->text().trimmed(),
          .file = m_file->text().trimmed(),
          .hasOrderNote = m_hasOrderNote->isChecked()};
}

void GatewayDialog::complain(const QString& problem, const Theme& theme) {
  showProblem(*m_problem, problem, theme);
}

}  // namespace spanscope::ui
