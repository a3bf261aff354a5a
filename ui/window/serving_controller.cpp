// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/serving_controller.h"

#include "ui/views/common/elided_text.h"
#include "ui/views/common/table_view.h"
#include "ui/views/common/text_tools.h"
#include "ui/window/status_line.h"
#include "ui/window/workspace.h"
#include "ui/words/metric_words.h"
#include "ui/words/part_text.h"

#include <QCheckBox>
#include <QClipboard>
#include <QDateTime>
#include <QFrame>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <QSettings>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStackedWidget>
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace spanscope::ui {

namespace {

constexpr int kRequestRow = 24;
constexpr int kPanelHeight = 176;
constexpr int kMostPort = 65535;

QString addressOf(const ServingState& state) {
  return QUrl(state.url).authority();
}

bool isSameRow(const ServedEntry& a, const ServedEntry& b) {
  return a.number == b.number && a.run == b.run && a.state == b.state && a.prompt == b.prompt &&
         a.cached == b.cached && a.generated == b.generated && a.problem == b.problem;
}

}  // namespace

QString requestStateText(const ServedEntry& entry) {
  switch (entry.state) {
    case server::RequestState::Running:
      if (entry.run == 0) return RequestsPanel::tr("Waiting");
      return entry.generated == 0 ? RequestsPanel::tr("Reading the prompt") : RequestsPanel::tr("Answering");
    case server::RequestState::Finished:
      return RequestsPanel::tr("Answered");
    case server::RequestState::Stopped:
      return RequestsPanel::tr("Stopped");
    case server::RequestState::Failed:
      break;
  }
  return entry.problem.isEmpty() ? RequestsPanel::tr("Failed")
                                 : RequestsPanel::tr("Failed: %1").arg(entry.problem);
}

QString servingText(const ServingState& state) {
  switch (state.phase) {
    case ServingPhase::Off:
      break;
    case ServingPhase::Starting:
      return RequestsPanel::tr("Starting the server…");
    case ServingPhase::On:
      return state.settings.keepsTexts
                 ? RequestsPanel::tr("Serving %1 at %2").arg(state.model, state.url)
                 : RequestsPanel::tr("Serving %1 at %2 without keeping texts").arg(state.model, state.url);
    case ServingPhase::Ending:
      return state.answering == 1
                 ? RequestsPanel::tr("Ending: 1 request is being answered")
                 : RequestsPanel::tr("Ending: %1 requests are being answered").arg(state.answering);
  }
  return state.problem.isEmpty() ? RequestsPanel::tr("The server is off") : state.problem;
}

QString servingStatus(const ServingState& state) {
  if (state.phase == ServingPhase::Off) return {};
  if (state.phase == ServingPhase::Starting) return RequestsPanel::tr("Starting the server…");
  const QString address = addressOf(state);
  const QString begin = state.phase == ServingPhase::Ending ? RequestsPanel::tr("Ending %1").arg(address)
                                                            : RequestsPanel::tr("Serving %1").arg(address);
  if (state.answering == 0) return begin;
  return state.answering == 1 ? RequestsPanel::tr("%1 · 1 request").arg(begin)
                              : RequestsPanel::tr("%1 · %2 requests").arg(begin).arg(state.answering);
}

void RequestsModel::setState(const ServingState& state) {
  const std::vector<ServedEntry>& now = state.entries;
  const bool isSameList =
      now.size() == m_entries.size() &&
      std::equal(now.begin(), now.end(), m_entries.begin(),
                 [](const ServedEntry& a, const ServedEntry& b) { return a.number == b.number; });
  if (!isSameList) {
    // New requests are inserted at the top. The selection stays on its request.
    const bool onlyCame =
        now.size() > m_entries.size() &&
        std::equal(m_entries.begin(), m_entries.end(), now.begin(),
                   [](const ServedEntry& a, const ServedEntry& b) { return a.number == b.number; });
    if (onlyCame) {
      beginInsertRows({}, 0, static_cast<int>(now.size() - m_entries.size()) - 1);
      m_entries = now;
      endInsertRows();
      Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, kColumns - 1));
    } else {
      beginResetModel();
      m_entries = now;
      endResetModel();
    }
    return;
  }
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (isSameRow(now[i], m_entries[i])) continue;
    m_entries[i] = now[i];
    const int row = static_cast<int>(now.size() - 1 - i);
    Q_EMIT dataChanged(index(row, 0), index(row, kColumns - 1));
  }
}

const ServedEntry& RequestsModel::entry(int row) const {
  return m_entries[m_entries.size() - 1 - static_cast<std::size_t>(row)];
}

int RequestsModel::rowOf(std::uint64_t number) const {
  for (int row = 0; row < rowCount(); ++row) {
    if (entry(row).number == number) return row;
  }
  return -1;
}

int RequestsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_entries.size());
}

int RequestsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kColumns;
}

QVariant RequestsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const ServedEntry& entry = this->entry(index.row());
  const auto column = static_cast<Column>(index.column());
  if (role == Qt::TextAlignmentRole) {
    const bool isNumber = column == Number || column == Prompt || column == Cached || column == Answer;
    return int((isNumber ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }
  if (role == InkRole) {
    if (column != State)
      return static_cast<int>(column == Prompt || column == Answer ? Role::Text : Role::TextSecond);
    switch (entry.state) {
      case server::RequestState::Running:
        return static_cast<int>(Role::Accent);
      case server::RequestState::Failed:
        return static_cast<int>(Role::Error);
      default:
        return static_cast<int>(Role::Text);
    }
  }
  if (role == RawRole) {
    switch (column) {
      case Number:
        return static_cast<qulonglong>(entry.number);
      case Time:
        return static_cast<qlonglong>(entry.time);
      case Prompt:
        return entry.prompt ? QVariant(static_cast<qlonglong>(*entry.prompt)) : QVariant();
      case Cached:
        return entry.prompt ? QVariant(static_cast<qlonglong>(entry.cached)) : QVariant();
      case Answer:
        return static_cast<qlonglong>(entry.generated);
      default:
        return {};
    }
  }
  if (role == Qt::ToolTipRole) {
    return tr("Request %1 from %2\n%3").arg(entry.number).arg(entry.client, requestStateText(entry));
  }
  if (role != Qt::DisplayRole) return {};
  const QString unknown = QStringLiteral("–");
  switch (column) {
    case Number:
      return QString::number(entry.number);
    case Time:
      return QLocale().toString(QDateTime::fromMSecsSinceEpoch(entry.time).time(),
                                QStringLiteral("HH:mm:ss"));
    case Path:
      return entry.endpoint;
    case Model:
      return entry.model.isEmpty() ? unknown : entry.model;
    case State:
      return requestStateText(entry);
    case Prompt:
      return entry.prompt ? QString::number(*entry.prompt) : unknown;
    case Cached:
      return entry.prompt
                 ? tr("%1 (%2)").arg(QString::number(entry.cached), shareText(entry.cached, *entry.prompt))
                 : unknown;
    case Answer:
      return QString::number(entry.generated);
    case kColumns:
      break;
  }
  return {};
}

QVariant RequestsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) {
    const bool isNumber = section == Number || section == Prompt || section == Cached || section == Answer;
    return int((isNumber ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }
  if (role == Qt::ToolTipRole && section == Cached) return metricMeaning("cached-tokens");
  if (role != Qt::DisplayRole) return {};
  switch (static_cast<Column>(section)) {
    case Number:
      return tr("No.");
    case Time:
      return tr("Time");
    case Path:
      return tr("Path");
    case Model:
      return tr("Requested model");
    case State:
      return tr("State");
    case Prompt:
      return metricTitle("prompt-tokens");
    case Cached:
      return metricShortTitle("cached-tokens");
    case Answer:
      return metricTitle("generated-tokens");
    case kColumns:
      break;
  }
  return {};
}

RequestsPanel::RequestsPanel(QWidget* parent)
    : QWidget(parent),
      m_model(new RequestsModel(this)),
      m_table(new TableView(tr("Requests of other programs"), RowOrder::Sortable, this)),
      m_pages(new QStackedWidget(this)),
      m_empty(new QLabel(this)),
      m_title(new ElidedLabel(this)),
      m_portLabel(new QLabel(tr("Port"), this)),
      m_port(new QSpinBox(this)),
      m_keepsTexts(new QCheckBox(tr("Keep texts"), this)),
      m_copy(new QToolButton(this)),
      m_keep(new QPushButton(tr("Keep as query"), this)),
      m_switch(new QPushButton(this)),
      m_close(new QToolButton(this)) {
  setAccessibleName(tr("Requests of other programs"));
  m_title->setObjectName(QStringLiteral("servingText"));
  m_copy->setObjectName(QStringLiteral("copyAddress"));
  m_copy->setText(tr("Copy address"));
  m_copy->setToolTip(tr("Copy the base URL for OpenAI's clients"));
  m_port->setObjectName(QStringLiteral("servePort"));
  m_port->setAccessibleName(tr("Port"));
  m_port->setRange(0, kMostPort);
  m_port->setSpecialValueText(tr("any"));
  m_port->setGroupSeparatorShown(false);
  m_port->setButtonSymbols(QAbstractSpinBox::NoButtons);
  m_port->setToolTip(tr("Set the port; only programs on this machine can connect"));
  m_portLabel->setBuddy(m_port);
  ignoreWheelWithoutFocus(m_port);
  m_keepsTexts->setObjectName(QStringLiteral("serveTexts"));
  m_keepsTexts->setToolTip(
      tr("Keep texts of requests and answers in lists, traces and files. Tokens, blocks and times are always "
         "shown"));
  m_keep->setObjectName(QStringLiteral("keepRequest"));
  m_keep->setToolTip(tr("Copy the selected request into a query that you can edit, run and save"));
  m_switch->setObjectName(QStringLiteral("serveSwitch"));
  m_close->setText(QStringLiteral("✕"));
  m_close->setAutoRaise(true);
  m_close->setObjectName(QStringLiteral("closeRequests"));
  m_close->setToolTip(tr("Hide this list; the server continues"));
  m_close->setAccessibleName(m_close->toolTip());

  auto* frame = new QFrame(this);
  frame->setObjectName(QStringLiteral("dockCard"));
  auto* row = new QHBoxLayout;
  row->setContentsMargins(3 * kSpace, kSpace, kSpace, kSpace);
  row->setSpacing(2 * kSpace);
  row->addWidget(m_title, 1);
  row->addWidget(m_copy);
  row->addWidget(m_portLabel);
  row->addWidget(m_port);
  row->addWidget(m_keepsTexts);
  row->addWidget(m_keep);
  row->addWidget(m_switch);
  row->addWidget(m_close);

  m_table->setObjectName(QStringLiteral("requests"));
  m_table->setAccessibleDescription(tr("Press Return to show a request as a query with its run."));
  m_table->setModel(m_model);
  QHeaderView* head = m_table->horizontalHeader();
  head->setStretchLastSection(false);
  head->setSectionResizeMode(RequestsModel::State, QHeaderView::Stretch);
  head->setMinimumSectionSize(40);
  for (const auto& [column, width] :
       {std::pair(RequestsModel::Number, 48), std::pair(RequestsModel::Time, 84),
        std::pair(RequestsModel::Path, 176), std::pair(RequestsModel::Model, 148),
        std::pair(RequestsModel::Prompt, 112), std::pair(RequestsModel::Cached, 112),
        std::pair(RequestsModel::Answer, 104)})
    head->resizeSection(column, width);
  m_empty->setWordWrap(true);
  m_empty->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  m_empty->setContentsMargins(3 * kSpace, 2 * kSpace, 3 * kSpace, kSpace);
  m_empty->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_pages->addWidget(m_empty);
  m_pages->addWidget(m_table);
  m_pages->setMinimumHeight(2 * kRequestRow + 8);

  auto* card = new QVBoxLayout(frame);
  card->setContentsMargins(1, 1, 1, 1);
  card->setSpacing(0);
  card->addLayout(row);
  card->addWidget(m_pages, 1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(2 * kSpace, 0, 2 * kSpace, 2 * kSpace);
  column->addWidget(frame);

  connect(m_table, &QTableView::clicked, this,
          [this](const QModelIndex& index) { choose(m_table->rowOf(index)); });
  connect(m_table, &TableView::rowActivated, this, &RequestsPanel::choose);
  connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this,
          [this] { m_keep->setEnabled(canKeep()); });
  connect(m_switch, &QPushButton::clicked, this, &RequestsPanel::switchWanted);
  connect(m_close, &QToolButton::clicked, this, &RequestsPanel::closeWanted);
  connect(m_keep, &QPushButton::clicked, this, [this] {
    if (chosen() != 0) Q_EMIT keepWanted(chosen());
  });
  connect(m_copy, &QToolButton::clicked, this,
          [this] { QGuiApplication::clipboard()->setText(m_state->url + QStringLiteral("/v1")); });
  const auto report = [this] { Q_EMIT settingsChosen(settings()); };
  connect(m_port, &QSpinBox::valueChanged, this, report);
  connect(m_keepsTexts, &QCheckBox::toggled, this, report);
  setSettings({});
  showState();
}

QSize RequestsPanel::sizeHint() const {
  // In a low window, the docks need the space more.
  return {640, std::min(kPanelHeight, window()->height() / 6)};
}

void RequestsPanel::setSettings(const ServeSettings& settings) {
  const QSignalBlocker port(m_port);
  const QSignalBlocker texts(m_keepsTexts);
  m_port->setValue(settings.port);
  m_keepsTexts->setChecked(settings.keepsTexts);
}

ServeSettings RequestsPanel::settings() const {
  return {.port = m_port->value(), .keepsTexts = m_keepsTexts->isChecked()};
}

void RequestsPanel::setTheme(const Theme& theme) {
  m_theme = theme;
  m_table->setTheme(theme);
  showState();
}

void RequestsPanel::setState(const std::shared_ptr<const ServingState>& state, std::uint64_t shown) {
  if (m_state == state && m_shown == shown) return;
  const std::uint64_t before = chosen();
  m_state = state;
  m_model->setState(*state);
  // The list selects the request of the current document.
  const std::uint64_t wanted = m_shown != shown ? shown : before;
  m_shown = shown;
  m_table->showRow(m_model->rowOf(wanted));
  showState();
}

void RequestsPanel::showState() {
  const ServingState& state = *m_state;
  const bool isOff = state.phase == ServingPhase::Off;
  m_title->setText(servingText(state));
  m_title->setFont(m_theme.interfaceFont());
  colorLabel(*m_title, m_theme, isOff && !state.problem.isEmpty() ? Role::Error : Role::Text);
  m_copy->setVisible(state.phase == ServingPhase::On);
  m_portLabel->setVisible(isOff);
  m_port->setVisible(isOff);
  m_keepsTexts->setVisible(isOff);
  m_keep->setVisible(!state.entries.empty());
  m_keep->setEnabled(canKeep());
  QString text = tr("Stop server");
  if (isOff) text = tr("Start server");
  if (state.phase == ServingPhase::Ending) text = tr("Stop server now");
  if (state.phase == ServingPhase::Starting) text = tr("Cancel");
  m_switch->setText(text);
  m_switch->setToolTip(isOff ? tr("Let programs on this machine use this window's model and cache")
                             : tr("Refuse new requests, and stop after the running requests"));
  m_pages->setCurrentWidget(state.entries.empty() ? static_cast<QWidget*>(m_empty) : m_table);
  colorLabel(*m_empty, m_theme, Role::TextSecond);
  m_empty->setFont(m_theme.interfaceFont());
  QString help =
      tr("Programs on this machine can use this window's model and cache with OpenAI's or SPNL's protocol. "
         "Each request then appears here like your own runs. You can keep a request as a query.");
  if (state.phase == ServingPhase::On) {
    help = tr("Requests appear here as they arrive. The base URL for OpenAI's clients is %1/v1. SPNL's "
              "endpoint is %1/v1/query/execute. No key is needed.")
               .arg(state.url);
  } else if (isOff && !state.problem.isEmpty()) {
    // The line above may be too short for the whole problem.
    help = state.problem + QStringLiteral("\n\n") + help;
  }
  m_empty->setText(help);
}

std::uint64_t RequestsPanel::chosen() const {
  const int row = m_table->selectedRow();
  return row < 0 ? 0 : m_model->entry(row).number;
}

bool RequestsPanel::canKeep() const {
  const int row = m_model->rowOf(chosen());
  return row >= 0 && m_model->entry(row).keepsTexts;
}

void RequestsPanel::choose(int row) {
  if (row >= 0 && row < m_model->rowCount()) Q_EMIT requestWanted(m_model->entry(row).number);
}

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
    : m_parts(parts), m_requests(new RequestsPanel), m_servingState(new QToolButton) {
  m_requests->setSettings(serveSettings(m_parts.settings));
  m_requests->hide();
  connect(m_requests, &RequestsPanel::switchWanted, this,
          [this] { Q_EMIT commandWanted(QStringLiteral("run.serve")); });
  connect(m_requests, &RequestsPanel::settingsChosen, this, [this](const ServeSettings& settings) {
    m_parts.settings.setValue(QLatin1String(kServePort), settings.port);
    m_parts.settings.setValue(QLatin1String(kServeTexts), settings.keepsTexts);
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
  m_parts.status.insertPermanentWidget(1, m_servingState);
}

void ServingController::addCommands(CommandHandlers& rows) {
  rows.add(
      "run.serve", [] { return true; }, [this] { toggleServing(); },
      [this] {
        return m_parts.workspace.serving().state()->phase == ServingPhase::Off ? tr("Start server")
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
  Serving& serving = m_parts.workspace.serving();
  if (serving.state()->phase == ServingPhase::Off) {
    // The panel shows the state of the server, and the error if it does not start.
    m_requests->show();
    m_parts.workspace.serve(m_requests->settings());
  } else {
    serving.stop();
  }
  refresh();
}

void ServingController::refresh() {
  const std::shared_ptr<const ServingState>& state = m_parts.workspace.serving().state();
  const OpenDocument* current = m_parts.workspace.current();
  m_requests->setState(state, current == nullptr ? 0 : current->served);
  const QString text = servingStatus(*state);
  m_servingState->setText(text);
  m_servingState->setAccessibleName(text);
  m_servingState->setVisible(!text.isEmpty());
}

void ServingController::showRequest(std::uint64_t number) {
  const auto& documents = m_parts.workspace.documents();
  const auto preview =
      std::find_if(documents.begin(), documents.end(), [](const auto& each) { return each->isPreview; });
  OpenDocument* before = preview == documents.end() ? nullptr : preview->get();
  if (before != nullptr && (before->served == number || m_parts.workspace.isUsed(*before))) before = nullptr;
  OpenDocument* const shown = m_parts.workspace.showServed(number);
  if (shown == nullptr) {
    m_parts.status.say(tr("Request %1 is no longer in the list.").arg(number));
    return;
  }
  Q_EMIT documentShown(*shown);
  m_parts.pages.showDocuments();
  if (before != nullptr && before != shown) Q_EMIT closeWanted(*before);
  Q_EMIT changed();
}

void ServingController::keepRequest(std::uint64_t number) {
  showRequest(number);
  OpenDocument* const shown = m_parts.workspace.current();
  if (shown == nullptr || shown->served != number) return;
  if (const auto entry = m_parts.workspace.serving().entry(number); entry && !entry->keepsTexts)
    return m_parts.status.say(tr("The texts of request %1 were not kept, so there is no query.").arg(number));
  if (!shown->isPreview)
    return m_parts.status.say(tr("Request %1 is already a query of its own.").arg(number));
  shown->isPreview = false;
  // The document counts as unsaved, so that closing it asks.
  shown->model->markUnsaved();
  m_parts.status.say(tr("%1 is now a query that you can edit, run and save.").arg(shown->model->title()));
  Q_EMIT changed();
}

}  // namespace spanscope::ui
