// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/servers_dialog.h"

#include "engine/base/error.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/remote/http/http_client.h"
#include "engine/remote/protocol.h"
#include "engine/remote/secrets/secret_store.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMetaObject>
#include <QPalette>
#include <QPushButton>
#include <QResizeEvent>
#include <QScreen>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStringList>
#include <QVBoxLayout>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace spanscope::ui {
namespace {

constexpr QSize kServersSize(760, 640);
constexpr int kListWidth = 180;
/// Visible lines of facts about a server. The user scrolls to more lines.
constexpr int kLeastFactLines = 3;
constexpr const char* kUnnamed = "new";  // name in errors about a server without a name
constexpr int kNameRole = Qt::UserRole;

}  // namespace

QString serverFactsText(const remote::ServerFacts& facts) {
  const remote::ServerKindInfo& kind = remote::infoOf(facts.kind);
  QStringList lines;
  QString title = QString::fromUtf8(kind.title);
  if (!facts.version.empty()) title += QLatin1Char(' ') + QString::fromStdString(facts.version);
  lines += title;
  constexpr std::size_t kMostModels = 6;
  for (std::size_t i = 0; i < facts.models.size() && i < kMostModels; ++i) {
    const remote::ServedModel& model = facts.models[i];
    const QString name = QString::fromStdString(model.name);
    lines +=
        model.context
            ? ServersDialog::tr("Model: %1, context of %2 tokens").arg(name).arg(*model.context)
            : ServersDialog::tr(/*id:model-without-context*/ "Model: %1, context not reported").arg(name);
  }
  if (facts.models.size() > kMostModels)
    lines += ServersDialog::tr("and %1 more models").arg(facts.models.size() - kMostModels);
  switch (kind.cached) {
    case remote::CacheReporting::Always:
      lines += ServersDialog::tr("Cached tokens: reported");
      break;
    case remote::CacheReporting::IfAsked:
      lines += ServersDialog::tr("Cached tokens: reported with an option (%1)")
                   .arg(QString::fromUtf8(kind.advice));
      break;
    case remote::CacheReporting::Never:
      lines += ServersDialog::tr("Cached tokens: cannot be reported");
      break;
  }
  lines += kind.sendsProgress
               ? ServersDialog::tr(/*id:progress-prompt-reported*/ "Progress of a prompt: reported")
               : ServersDialog::tr("Progress of a prompt: not reported");
  QStringList protocols;
  for (const remote::Protocol* protocol : remote::protocols()) {
    if (protocol->isTakenBy(facts)) protocols += QString::fromUtf8(protocol->title);
  }
  lines += protocols.isEmpty() ? ServersDialog::tr("The server has no protocol that Spanscope knows")
                               : ServersDialog::tr(/*id:server-protocols*/ "Protocols: %1")
                                     .arg(protocols.join(QStringLiteral(", ")));
  if (facts.slots)
    lines += facts.cache.slotTokens
                 ? ServersDialog::tr("Slots: %1, of %2 tokens").arg(*facts.slots).arg(*facts.cache.slotTokens)
                 : ServersDialog::tr("Slots: %1").arg(*facts.slots);
  if (facts.cache.blockSize) lines += ServersDialog::tr("Block size: %1 tokens").arg(*facts.cache.blockSize);
  if (facts.cache.cacheTokens)
    lines += ServersDialog::tr("Cache: room for %1 tokens").arg(*facts.cache.cacheTokens);
  if (!facts.cache.findsPrefixes.value_or(true)) lines += ServersDialog::tr("Cache: no prefix caching");
  return lines.join(QLatin1Char('\n'));
}

ServersDialog::ServersDialog(workbench::ServerList& servers, std::map<std::string, remote::ServerFacts> facts,
                             const std::string& shown, const Theme& theme, QWidget* parent)
    : QDialog(parent), m_servers(servers), m_facts(std::move(facts)), m_theme(theme) {
  setWindowTitle(tr("Servers"));
  auto* head = new QLabel(tr("Servers for queries"), this);
  head->setFont(theme.titleFont());
  auto* help = new QLabel(tr("Queries use the name of a server. Keys stay in the environment or in the "
                             "desktop's secret store. No query file, trace or log contains keys. The "
                             "tokenizer of the query's model counts the tokens. Choose the model first, then "
                             "the server."),
                          this);
  help->setWordWrap(true);

  m_list = new QListWidget(this);
  m_list->setAccessibleName(tr("Servers"));
  m_list->setObjectName(QStringLiteral("servers"));
  m_list->setFixedWidth(kListWidth);

  m_name = new QLineEdit(this);
  m_name->setObjectName(QStringLiteral("serverName"));
  m_name->setPlaceholderText(QStringLiteral("gpu-3"));
  m_url = new QLineEdit(this);
  m_url->setObjectName(QStringLiteral("serverUrl"));
  m_url->setPlaceholderText(QStringLiteral("http://gpu-3:8000"));
  m_model = new QComboBox(this);
  m_model->setObjectName(QStringLiteral("serverModel"));
  m_model->setEditable(true);
  m_model->setToolTip(
      tr("Set the name of the model on the server. Default: the model of the query, or the only model of the "
         "server."));
  m_model->lineEdit()->setPlaceholderText(tr("default: the model of the query"));
  m_isUnlisted = new QCheckBox(tr("Allow an unlisted model"), this);
  m_isUnlisted->setObjectName(QStringLiteral("unlistedModel"));
  m_isUnlisted->setToolTip(tr("Allow a model that the server does not list"));
  m_protocol = new QComboBox(this);
  m_protocol->setObjectName(QStringLiteral("serverProtocol"));
  m_protocol->addItem(tr("default"), QString());
  for (const remote::Protocol* protocol : remote::protocols())
    m_protocol->addItem(QString::fromUtf8(protocol->title), QString::fromUtf8(protocol->name));
  m_protocol->setToolTip(
      tr("Set the protocol. Default: the first protocol that the server has and the query allows"));
  m_protocolHelp = new QLabel(this);
  m_protocolHelp->setObjectName(QStringLiteral("protocolHelp"));
  m_protocolHelp->setWordWrap(true);
  m_protocolHelp->setTextFormat(Qt::PlainText);
  m_place = new QComboBox(this);
  m_place->setObjectName(QStringLiteral("keyPlace"));
  for (const auto& [place, text] :
       {std::pair(workbench::KeyPlace::None, tr("none")),
        std::pair(workbench::KeyPlace::Environment, tr("in an environment variable")),
        std::pair(workbench::KeyPlace::Secrets, tr("in the desktop's secret store"))})
    m_place->addItem(text, static_cast<int>(place));
  m_variable = new QLineEdit(this);
  m_variable->setObjectName(QStringLiteral("keyVariable"));
  m_variable->setPlaceholderText(QStringLiteral("OPENAI_API_KEY"));
  m_key = new QLineEdit(this);
  m_key->setObjectName(QStringLiteral("key"));
  m_key->setEchoMode(QLineEdit::Password);
  m_certificates = new QLineEdit(this);
  m_certificates->setObjectName(QStringLiteral("certificates"));
  m_certificates->setPlaceholderText(tr("default: the system's certificates"));
  m_certificates->setToolTip(
      tr("Set a PEM file of trusted certificate authorities. Default: the system's certificate authorities"));

  m_atOnce = new QSpinBox(this);
  m_atOnce->setObjectName(QStringLiteral("atOnce"));
  m_atOnce->setRange(1, int{remote::kMostAtOnce});
  m_atOnce->setToolTip(
      tr("Set the max number of concurrent requests of one run. Default: %1").arg(remote::kStandardAtOnce));
  m_orders = new QCheckBox(tr("Reorder documents for the cache"), this);
  m_orders->setObjectName(QStringLiteral("orderForCache"));
  m_orders->setToolTip(
      tr("Send the children of each plus in the order with the most hits in the server's prefix cache"));
  m_hasOrderNote = new QCheckBox(tr("Add a note with the written order"), this);
  m_hasOrderNote->setObjectName(QStringLiteral("orderNote"));
  m_hasOrderNote->setToolTip(
      tr("Add a message that states the original order of the documents, whenever another order is sent"));

  m_form = new QFormLayout;
  m_form->setHorizontalSpacing(3 * kSpace);
  m_form->setVerticalSpacing(2 * kSpace);
  m_form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  m_form->addRow(tr("&Name"), m_name);
  m_form->addRow(tr("&Address"), m_url);
  m_form->addRow(tr("&Model"), m_model);
  m_form->addRow(QString(), m_isUnlisted);
  m_form->addRow(tr("&Protocol"), m_protocol);
  m_form->addRow(QString(), m_protocolHelp);
  m_form->addRow(tr("&Key"), m_place);
  m_form->addRow(tr("&Variable"), m_variable);
  m_form->addRow(tr("Key &text"), m_key);
  m_form->addRow(tr("A&uthorities"), m_certificates);
  m_form->addRow(tr("Max re&quests"), m_atOnce);
  m_form->addRow(QString(), m_orders);
  m_form->addRow(QString(), m_hasOrderNote);

  m_said = new QLabel(this);
  m_said->setObjectName(QStringLiteral("serverSaid"));
  m_said->setWordWrap(true);
  m_said->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_can = new QLabel(this);
  m_can->setObjectName(QStringLiteral("serverFacts"));
  m_can->setWordWrap(true);
  m_can->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  m_can->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_can->setTextFormat(Qt::PlainText);
  m_said->setTextFormat(Qt::PlainText);
  m_said->hide();

  const auto button = [this](const QString& text, const QString& name, void (ServersDialog::*act)()) {
    auto* made = new QPushButton(text, this);
    made->setAutoDefault(false);
    made->setObjectName(name);
    connect(made, &QPushButton::clicked, this, act);
    return made;
  };
  m_remove = button(tr("Remove server"), QStringLiteral("removeServer"), &ServersDialog::remove);
  m_ask = button(tr("Test connection"), QStringLiteral("askServer"), &ServersDialog::ask);
  m_ask->setToolTip(tr("Ask the server for its type, its models and its reported values"));
  m_keep = button(tr("Save server"), QStringLiteral("primary"), &ServersDialog::keep);
  m_keep->setDefault(true);
  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(2 * kSpace);
  buttons->addWidget(m_remove);
  buttons->addStretch(1);
  buttons->addWidget(m_ask);
  buttons->addWidget(m_keep);

  // On a small screen, the fields scroll, so that the buttons stay visible.
  auto* fields = new QWidget(this);
  m_form->setContentsMargins(0, 0, 0, 0);
  fields->setLayout(m_form);
  auto* fieldsArea = new QScrollArea(this);
  fieldsArea->setFrameShape(QFrame::NoFrame);
  fieldsArea->setWidgetResizable(true);
  fieldsArea->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  fieldsArea->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
  fieldsArea->setWidget(fields);
  fields->setAutoFillBackground(false);
  fieldsArea->viewport()->setAutoFillBackground(false);
  auto* right = new QVBoxLayout;
  right->setSpacing(3 * kSpace);
  right->addWidget(fieldsArea, 4);
  right->addLayout(buttons);
  right->addWidget(m_said);
  // The facts about a server can be long. The facts scroll, so that the fields keep their heights.
  auto* factsArea = new QScrollArea(this);
  factsArea->setFrameShape(QFrame::NoFrame);
  factsArea->setWidgetResizable(true);
  factsArea->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  factsArea->setMinimumHeight(kLeastFactLines * fontMetrics().lineSpacing());
  factsArea->setWidget(m_can);
  m_can->setAutoFillBackground(false);
  factsArea->viewport()->setAutoFillBackground(false);
  right->addWidget(factsArea, 1);
  auto* left = new QVBoxLayout;
  left->setSpacing(2 * kSpace);
  left->addWidget(m_list, 1);
  auto* add = new QPushButton(tr("Add a server"), this);
  add->setAutoDefault(false);
  add->setObjectName(QStringLiteral("addServer"));
  connect(add, &QPushButton::clicked, this, [this] {
    m_list->clearSelection();
    m_list->setCurrentRow(-1);
    showServer({});
    m_name->setFocus();
  });
  left->addWidget(add);
  auto* both = new QHBoxLayout;
  both->setSpacing(4 * kSpace);
  both->addLayout(left);
  both->addLayout(right, 1);

  auto* foot = new QHBoxLayout;
  foot->addStretch(1);
  auto* close = new QPushButton(tr("Close"), this);
  close->setAutoDefault(false);
  connect(close, &QPushButton::clicked, this, &QDialog::accept);
  foot->addWidget(close);

  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(4 * kSpace, 4 * kSpace, 4 * kSpace, 4 * kSpace);
  column->setSpacing(3 * kSpace);
  column->addWidget(head);
  column->addWidget(help);
  column->addLayout(both, 1);
  column->addLayout(foot);
  const QScreen* const screen = parent == nullptr ? this->screen() : parent->screen();
  const QSize wanted = kServersSize.expandedTo({0, layout()->totalHeightForWidth(kServersSize.width())});
  resize(screen == nullptr ? wanted : wanted.boundedTo(screen->availableSize()));

  connect(m_place, &QComboBox::currentIndexChanged, this, &ServersDialog::showFields);
  connect(m_model, &QComboBox::editTextChanged, this,
          [this](const QString& model) { m_isUnlisted->setEnabled(!model.trimmed().isEmpty()); });
  connect(m_protocol, &QComboBox::currentIndexChanged, this, &ServersDialog::showProtocol);
  connect(m_orders, &QCheckBox::toggled, m_hasOrderNote, &QWidget::setEnabled);
  connect(m_list, &QListWidget::currentItemChanged, this, [this](QListWidgetItem* item) {
    if (item != nullptr) showServer(item->data(kNameRole).toString().toStdString());
  });
  fillList();
  const std::vector<workbench::NamedServer> all = m_servers.list();
  const bool isThere = m_servers.find(shown).has_value();
  showServer(isThere ? shown : all.empty() ? std::string() : all.front().name);
  if (const std::optional<Error> damage = m_servers.problem()) {
    say(tr("Some servers are missing: %1. Spanscope renames the old file before Spanscope saves the list.")
            .arg(QString::fromStdString(damage->message())),
        true);
  }
}

void ServersDialog::resizeEvent(QResizeEvent* event) {
  QDialog::resizeEvent(event);
  if (event->size().width() != event->oldSize().width()) fitHeight();
}

void ServersDialog::fitHeight() {
  if (layout() == nullptr || !layout()->hasHeightForWidth()) return;
  // Fields and facts scroll, so they need less than their wanted heights.
  const int least =
      layout()->totalMinimumHeightForWidth(std::max(width(), layout()->totalMinimumSize().width()));
  if (least != minimumHeight()) setMinimumHeight(least);
}

ServersDialog::~ServersDialog() {
  m_stop.request_stop();
}

void ServersDialog::fillList() {
  const QSignalBlocker blocker(m_list);
  m_list->clear();
  for (const workbench::NamedServer& server : m_servers.list()) {
    const QString name = QString::fromStdString(server.name);
    const auto facts = m_facts.find(server.name);
    auto* item = new QListWidgetItem(name, m_list);
    item->setData(kNameRole, name);
    if (facts != m_facts.end())
      item->setText(tr("%1 (%2)").arg(name, QString::fromUtf8(remote::infoOf(facts->second.kind).title)));
    item->setToolTip(QString::fromStdString(server.url));
  }
}

void ServersDialog::showServer(const std::string& name) {
  m_kept = m_servers.find(name);
  const workbench::NamedServer server = m_kept.value_or(workbench::NamedServer());
  for (int row = 0; row < m_list->count(); ++row) {
    if (m_list->item(row)->data(kNameRole).toString().toStdString() != server.name || !m_kept) continue;
    const QSignalBlocker blocker(m_list);
    m_list->setCurrentRow(row);
  }
  m_name->setText(QString::fromStdString(server.name));
  m_url->setText(QString::fromStdString(server.url));
  m_protocol->setCurrentIndex(std::max(0, m_protocol->findData(QString::fromStdString(server.protocol))));
  m_place->setCurrentIndex(m_place->findData(static_cast<int>(server.key)));
  m_variable->setText(QString::fromStdString(server.keyVariable));
  m_key->clear();
  m_certificates->setText(QString::fromStdString(server.certificateFile));
  m_atOnce->setValue(static_cast<int>(server.atOnce > 0 ? server.atOnce : remote::kStandardAtOnce));
  m_orders->setChecked(!server.keepsOrder);
  m_hasOrderNote->setChecked(server.hasOrderNote);
  m_hasOrderNote->setEnabled(!server.keepsOrder);
  m_tested.reset();
  m_hasFailed = false;
  say({}, false);
  showFacts();
  m_model->setEditText(QString::fromStdString(server.model));
  m_isUnlisted->setChecked(server.isUnlisted);
  m_isUnlisted->setEnabled(!server.model.empty());
  showFields();
}

const remote::ServerFacts* ServersDialog::shownFacts() const {
  if (m_tested) return &*m_tested;
  const auto found = m_kept ? m_facts.find(m_kept->name) : m_facts.end();
  return found == m_facts.end() ? nullptr : &found->second;
}

/// Shows the models and the facts of the server.
void ServersDialog::showFacts() {
  const QString model = m_model->currentText();
  m_model->clear();
  if (const remote::ServerFacts* const found = shownFacts()) {
    m_can->setText(serverFactsText(*found));
    for (const remote::ServedModel& served : found->models)
      m_model->addItem(QString::fromStdString(served.name));
  } else {
    // After a failed test, only the error is shown.
    m_can->setText(m_kept && !m_hasFailed
                       ? tr(/*id:test-to-see*/ "Test the connection to see what the server can do.")
                       : QString());
  }
  m_model->setEditText(model);
  showProtocol();
}

/// Shows what the protocol sends, or that this server does not have the protocol.
void ServersDialog::showProtocol() {
  const std::string name = m_protocol->currentData().toString().toStdString();
  const remote::Protocol* protocol = remote::findProtocol(name);
  const remote::ServerFacts* const found = shownFacts();
  const bool isKnown = found != nullptr;
  const remote::Protocol* const first = isKnown ? remote::protocolFor(*found) : nullptr;
  QString text;
  bool isProblem = false;
  if (protocol != nullptr && isKnown && !protocol->isTakenBy(*found)) {
    text = tr(/*id:server-not-take*/ "This server does not have this protocol.");
    isProblem = true;
  } else if (protocol != nullptr) {
    text = QString::fromUtf8(protocol->help);
    if (protocol->needsPrompt) text += QLatin1Char(' ') + tr("Texts use the chat template of the query.");
  } else if (first != nullptr) {
    text = tr(/*id:protocol-help*/ "Protocol: %1. %2")
               .arg(QString::fromUtf8(first->title), QString::fromUtf8(first->help));
  } else if (!isKnown) {
    QStringList titles;
    for (const remote::Protocol* each : remote::protocols()) titles += QString::fromUtf8(each->title);
    text = tr("The first protocol that the server has and the query allows: %1.")
               .arg(titles.join(QStringLiteral(", ")));
  } else {
    text = tr("This server has no protocol that Spanscope knows.");
    isProblem = true;
  }
  QPalette palette = m_protocolHelp->palette();
  palette.setColor(QPalette::WindowText, m_theme.color(isProblem ? Role::Error : Role::TextSecond));
  m_protocolHelp->setPalette(palette);
  m_protocolHelp->setText(text);
  fitHeight();
}

void ServersDialog::showFields() {
  const auto place = static_cast<workbench::KeyPlace>(m_place->currentData().toInt());
  const auto setShown = [this](QWidget* field, bool isShown) {
    field->setVisible(isShown);
    if (QWidget* label = m_form->labelForField(field)) label->setVisible(isShown);
  };
  setShown(m_variable, place == workbench::KeyPlace::Environment);
  setShown(m_key, place == workbench::KeyPlace::Secrets);
  const bool isKept = m_kept && m_kept->key == workbench::KeyPlace::Secrets;
  m_key->setPlaceholderText(isKept ? tr("stored; type a new key to replace it") : tr("the key"));
  m_ask->setEnabled(m_waiting == 0);
  m_keep->setEnabled(m_waiting == 0);
  m_remove->setEnabled(m_waiting == 0 && m_kept.has_value());
  m_list->setEnabled(m_waiting == 0);
  fitHeight();
}

void ServersDialog::say(const QString& text, bool isProblem) {
  QPalette palette = m_said->palette();
  palette.setColor(QPalette::WindowText, m_theme.color(isProblem ? Role::Error : Role::TextSecond));
  m_said->setPalette(palette);
  m_said->setText(text);
  m_said->setVisible(!text.isEmpty());
  fitHeight();
}

workbench::NamedServer ServersDialog::typed() const {
  workbench::NamedServer server{.name = m_name->text().trimmed().toStdString(),
                                .url = m_url->text().trimmed().toStdString()};
  server.model = m_model->currentText().trimmed().toStdString();
  server.isUnlisted = !server.model.empty() && m_isUnlisted->isChecked();
  server.protocol = m_protocol->currentData().toString().toStdString();
  server.key = static_cast<workbench::KeyPlace>(m_place->currentData().toInt());
  if (server.key == workbench::KeyPlace::Environment)
    server.keyVariable = m_variable->text().trimmed().toStdString();
  server.certificateFile = m_certificates->text().trimmed().toStdString();
  const auto atOnce = static_cast<std::size_t>(m_atOnce->value());
  if (atOnce != remote::kStandardAtOnce) server.atOnce = atOnce;
  server.keepsOrder = !m_orders->isChecked();
  server.hasOrderNote = m_hasOrderNote->isChecked();
  return server;
}

void ServersDialog::waitFor(const QString& said, std::function<void(const std::stop_token&)> act,
                            std::function<void(const QString& problem)> done) {
  ++m_waiting;
  say(said, false);
  showFields();
  m_thread.post([this, act = std::move(act), done = std::move(done), stop = m_stop.get_token()] {
    QString problem;
    try {
      act(stop);
    } catch (const Failure& failure) {
      problem = QString::fromUtf8(failure.what());
    }
    QMetaObject::invokeMethod(
        this,
        [this, done, problem] {
          --m_waiting;
          done(problem);
          showFields();
          Q_EMIT ended();
        },
        Qt::QueuedConnection);
  });
}

void ServersDialog::keep() {
  const workbench::NamedServer server = typed();
  const std::string before = shown();
  const std::string typedKey = m_key->text().toStdString();
  if (const std::optional<Error> problem = remote::problemOfKey(typedKey)) {
    say(tr("The server was not saved: %1").arg(QString::fromStdString(problem->message())), true);
    return;
  }
  try {
    if (server.name != before && m_servers.find(server.name)) {
      say(tr("The name %1 is already in use.").arg(QString::fromStdString(server.name)), true);
      return;
    }
    m_servers.put(server);
    if (!before.empty() && before != server.name) m_servers.remove(before);
  } catch (const Failure& failure) {
    say(tr("The server was not saved: %1").arg(QString::fromUtf8(failure.what())), true);
    return;
  }
  const bool hadSecret = m_kept && m_kept->key == workbench::KeyPlace::Secrets;
  const std::string key = m_key->text().toStdString();
  const auto facts = m_facts.find(before);
  // Another address can mean another server.
  if (facts != m_facts.end() && (m_kept->url != server.url || before != server.name)) m_facts.erase(facts);
  const bool isTested = m_tested && m_testedUrl == server.url;
  if (isTested) m_facts[server.name] = *m_tested;
  fillList();
  showServer(server.name);
  Q_EMIT changed();
  if (isTested) Q_EMIT answered(server.name, m_facts.at(server.name));
  const bool wantsSecret = server.key == workbench::KeyPlace::Secrets;
  const bool isRenamed = hadSecret && before != server.name;
  if (!(wantsSecret && (!key.empty() || isRenamed)) && !(hadSecret && !wantsSecret)) {
    say(tr("Saved the server."), false);
    return;
  }
  waitFor(
      tr("Asking the desktop's secret store…"),
      [=](const std::stop_token& stop) {
        std::string kept = key;
        if (wantsSecret && kept.empty()) kept = remote::findSecret(before, stop).value_or("");
        if (wantsSecret && !kept.empty()) remote::keepSecret(server.name, kept, stop);
        if (hadSecret && (isRenamed || !wantsSecret)) remote::forgetSecret(before, stop);
      },
      [this](const QString& problem) {
        if (problem.isEmpty())
          say(tr("Saved the server."), false);
        else
          say(tr("The key was not stored: %1").arg(problem), true);
      });
}

void ServersDialog::ask() {
  workbench::NamedServer server = typed();
  const std::string kept = shown();
  // A test needs no name.
  if (server.name.empty()) server.name = kUnnamed;
  const std::string key = server.key == workbench::KeyPlace::Secrets ? m_key->text().toStdString() : "";
  std::optional<Error> fault = workbench::problemOf(server);
  if (!fault) fault = remote::problemOfKey(key);
  if (fault) {
    say(QString::fromStdString(fault->message()), true);
    return;
  }
  // The secret store has a key under the saved name.
  if (!kept.empty()) server.name = kept;
  if (!key.empty()) server.key = workbench::KeyPlace::None;
  const auto found = std::make_shared<remote::ServerFacts>();
  waitFor(
      tr("Testing the connection to %1…").arg(QString::fromStdString(server.url)),
      [server, key, found](const std::stop_token& stop) {
        remote::HttpClient client;
        remote::HttpAccess access = workbench::accessTo(server, stop);
        if (!key.empty()) access.key = key;
        *found = remote::askServer(client, server.url, access, stop);
      },
      [this, server, kept, found](const QString& problem) {
        // Meanwhile, the user can have opened the fields of a new server.
        if (shown() != kept || typed().url != server.url) return;
        m_hasFailed = !problem.isEmpty();
        m_tested.reset();
        if (m_hasFailed) {
          showFacts();
          say(problem, true);
          return;
        }
        m_tested = *found;
        m_testedUrl = server.url;
        const bool isSaved = m_kept && m_kept->url == server.url;
        if (isSaved) {
          m_facts[kept] = *found;
          fillList();
          for (int row = 0; row < m_list->count(); ++row) {
            const QSignalBlocker blocker(m_list);
            if (m_list->item(row)->data(kNameRole).toString().toStdString() == kept)
              m_list->setCurrentRow(row);
          }
        }
        showFacts();
        say(isSaved ? tr("The server answers.")
                    : tr("The server answers. Save the server to use the server in runs."),
            false);
        if (isSaved) Q_EMIT answered(kept, *found);
      });
}

void ServersDialog::remove() {
  if (!m_kept) return;
  const workbench::NamedServer server = *m_kept;
  try {
    m_servers.remove(server.name);
  } catch (const Failure& failure) {
    say(QString::fromUtf8(failure.what()), true);
    return;
  }
  m_facts.erase(server.name);
  fillList();
  const std::vector<workbench::NamedServer> all = m_servers.list();
  showServer(all.empty() ? std::string() : all.front().name);
  Q_EMIT changed();
  if (server.key != workbench::KeyPlace::Secrets) return;
  waitFor(
      tr("Asking the desktop's secret store…"),
      [server](const std::stop_token& stop) { remote::forgetSecret(server.name, stop); },
      [this](const QString& problem) {
        if (problem.isEmpty())
          say({}, false);
        else
          say(tr("The key of the server may still be in the desktop's secret store: %1").arg(problem), true);
      });
}

}  // namespace spanscope::ui
