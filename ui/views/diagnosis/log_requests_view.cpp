// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/diagnosis/log_requests_view.h"

#include "engine/simulator/servers.h"
#include "ui/session/model_choices.h"
#include "ui/views/common/choices.h"
#include "ui/views/common/elided_text.h"
#include "ui/views/common/measure_page.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/table_view.h"
#include "ui/views/common/text_painting.h"
#include "ui/views/common/text_tools.h"
#include "ui/views/common/wrapping_row.h"
#include "ui/views/diagnosis/log_requests_model.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QDoubleValidator>
#include <QFileInfo>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QPainter>
#include <QProgressBar>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QScrollBar>
#include <QVBoxLayout>

#include <algorithm>

namespace spanscope::ui {
namespace {

constexpr int kLogGap = 2 * kSpace;
constexpr int kMostLogRows = 200;    // rows of a picture
constexpr int kLeastModelName = 14;  // characters

QString logIntroduction() {
  return LogRequestsView::tr(
      "The requests of a log appear here, with the cause of each cache miss. Drop a log on the window, or "
      "click Open log.");
}

// No paths of models.
const QLatin1String kOpenModelFile("\n");
const QLatin1String kOpenModelFolder("\n\n");

QString tokenizerTip() {
  return LogRequestsView::tr("Choose the model whose tokenizer and chat template give the exact tokens");
}

QLineEdit* makeAmount(const QString& name, const QString& example, const QString& help, QWidget* parent) {
  auto* line = new QLineEdit(parent);
  line->setAccessibleName(name);
  line->setPlaceholderText(example);
  line->setToolTip(help);
  auto* validator = new QDoubleValidator(0, 1e9, 6, line);
  validator->setLocale(QLocale::c());
  validator->setNotation(QDoubleValidator::StandardNotation);
  line->setValidator(validator);
  // Wide enough for the example and its frame.
  constexpr int kFrame = 8 * kSpace;
  line->setFixedWidth(line->fontMetrics().horizontalAdvance(example) + kFrame);
  return line;
}

}  // namespace

LogRequestsView::LogRequestsView(QWidget* parent)
    : InputView(InputPart::Measured | InputPart::Model, Pace::MayWait, parent),
      m_model(new LogRequestsModel(this)),
      m_table(new TableView(tr("Requests of the log"), RowOrder::Sortable, this)) {
  setAccessibleName(tr("Requests"));
  m_table->setAccessibleDescription(tr("Press Return to open the request as a query."));
  m_table->setModel(m_model);
  m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
  QHeaderView* header = m_table->horizontalHeader();
  header->setStretchLastSection(false);
  const std::vector<std::pair<int, int>> widths{
      {LogRequestsModel::Turn, 62},        {LogRequestsModel::Cause, 136},   {LogRequestsModel::Cached, 116},
      {LogRequestsModel::Could, 74},       {LogRequestsModel::Reported, 76}, {LogRequestsModel::Lost, 54},
      {LogRequestsModel::Difference, 206}, {LogRequestsModel::Change, 170},  {LogRequestsModel::Seconds, 72},
      {LogRequestsModel::Price, 76},       {LogRequestsModel::Help, 320},    {LogRequestsModel::Place, 150}};
  for (const auto& [column, width] : widths) header->resizeSection(column, width);
  m_progress = makeMeasureProgress(this);
  m_progress->setAccessibleName(tr("Progress of the diagnosis"));
  m_summary = new QLabel(this);
  m_summary->setWordWrap(true);
  m_summary->setTextFormat(Qt::PlainText);
  m_summary->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* page = new QVBoxLayout(this);
  page->setContentsMargins(kLogGap, kLogGap, kLogGap, 0);
  page->setSpacing(kSpace);
  page->addWidget(makeControls());
  page->addWidget(m_progress);
  page->addWidget(m_summary);
  page->addWidget(m_table, 1);
  page->addStretch(0);
  m_table->hide();
  m_summary->hide();
  connect(m_table, &TableView::rowSelected, this, [this](int row) {
    if (row >= 0) Q_EMIT commandWanted(QStringLiteral("log.choose:%1").arg(m_model->requestOf(row)));
  });
  connect(m_table, &TableView::rowActivated, this, [this](int row) {
    if (row >= 0) Q_EMIT commandWanted(QStringLiteral("log.document:%1").arg(m_model->requestOf(row)));
  });
}

QWidget* LogRequestsView::makeControls() {
  auto* head = new QWidget(this);
  auto* row = new WrappingRow(head);
  row->setSpacing(kSpace);
  m_open = new QPushButton(tr("Open log…"), head);
  connect(m_open, &QPushButton::clicked, this, [this] {
    Q_EMIT commandWanted(m_state->isRunning() ? QStringLiteral("file.stop-log")
                                              : QStringLiteral("file.open-log"));
  });
  m_server = new QComboBox(head);
  m_server->setAccessibleName(tr("Choose the server whose caching rules apply"));
  m_server->setToolTip(tr("Choose the server whose caching rules apply"));
  m_server->addItem(tr("Server of the log"), QString());
  for (const std::string& name : simulator::serverNames())
    m_server->addItem(QString::fromUtf8(simulator::findServer(name)->title), QString::fromStdString(name));
  m_tokens = new ElidedCombo(head);
  m_tokens->setAccessibleName(tr("Tokenizer"));
  m_tokens->setToolTip(tokenizerTip());
  m_tokens->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  m_tokens->setMinimumContentsLength(kLeastModelName);
  m_tokens->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  m_speed =
      makeAmount(tr("Speed"), tr("tokens/s"),
                 tr("Set the prefill speed in tokens per second, to show the time of lost tokens"), head);
  m_price =
      makeAmount(tr("Price"), tr("price/M"),
                 tr("Set the price of a million computed tokens, to show the price of lost tokens"), head);
  m_document = new QPushButton(tr("Open request"), head);
  m_document->setToolTip(tr("Open the selected request as a query"));
  connect(m_document, &QPushButton::clicked, this, [this] {
    if (m_state->chosen) Q_EMIT commandWanted(QStringLiteral("log.document:%1").arg(*m_state->chosen));
  });
  m_spans = new QPushButton(tr("To spans…"), head);
  m_spans->setToolTip(
      tr("Convert the selected request into a query with spans. You choose the parts that become spans"));
  connect(m_spans, &QPushButton::clicked, this, [this] {
    if (m_state->chosen) Q_EMIT commandWanted(QStringLiteral("log.spans:%1").arg(*m_state->chosen));
  });
  row->addWidget(m_open);
  row->addWidget(m_server);
  row->addWidget(m_tokens);
  row->addWidget(m_speed);
  row->addWidget(m_price);
  row->addWidget(m_document);
  row->addWidget(m_spans);
  connect(m_server, &QComboBox::currentIndexChanged, this, &LogRequestsView::sendSettings);
  connect(m_tokens, &QComboBox::activated, this, &LogRequestsView::chooseTokenizer);
  for (QLineEdit* line : {m_speed, m_price})
    connect(line, &QLineEdit::editingFinished, this, &LogRequestsView::sendSettings);
  setFocusProxy(m_table);
  return head;
}

void LogRequestsView::sendSettings() {
  if (m_isShowing) return;
  LogSettings settings;
  settings.server = m_server->currentData().toString();
  settings.model = m_tokens->currentData().toString();
  const auto amount = [](const QLineEdit& line) -> std::optional<double> {
    bool isNumber = false;
    const double number = line.text().toDouble(&isNumber);
    return isNumber && number > 0 ? std::optional(number) : std::nullopt;
  };
  settings.prices.tokensPerSecond = amount(*m_speed);
  settings.prices.perMillion = amount(*m_price);
  if (settings == m_state->settings) return;
  Q_EMIT commandWanted(QStringLiteral("log.settings:") + settings.text());
}

void LogRequestsView::chooseTokenizer(int index) {
  const QString chosen = m_tokens->itemData(index).toString();
  if (chosen != kOpenModelFile && chosen != kOpenModelFolder) return sendSettings();
  const QString path = chosen == kOpenModelFile ? askForModelFile(this) : askForModelFolder(this);
  if (path.isEmpty()) return showModels();
  if (m_tokens->findData(path) < 0) m_tokens->insertItem(index, QFileInfo(path).fileName(), path);
  m_tokens->setCurrentIndex(m_tokens->findData(path));
  sendSettings();
}

/// Offers the models of the model menu.
void LogRequestsView::showModels() {
  const QString& given = m_state->settings.model;
  QStringList names{tr("Model of the log"), tr("No tokenizer")};
  QStringList models{QString::fromLatin1(LogSettings::kModelOfLog), QString()};
  const std::string current = models.contains(given) ? std::string() : given.toStdString();
  for (const ModelChoice& choice : modelChoices(input()->models, current)) {
    if (models.contains(choice.directory)) continue;
    names << choice.name;
    models << choice.directory;
  }
  names << tr("Open GGUF file…") << tr("Open model folder…");
  models << QString(kOpenModelFile) << QString(kOpenModelFolder);
  QStringList now;
  for (int i = 0; i < m_tokens->count(); ++i) now << m_tokens->itemData(i).toString();
  if (now != models) {
    m_tokens->clear();
    for (qsizetype i = 0; i < models.size(); ++i) {
      m_tokens->addItem(names[i], models[i]);
      m_tokens->setItemData(static_cast<int>(i), models[i], Qt::ToolTipRole);
    }
    m_tokens->view()->setMinimumWidth(m_tokens->view()->sizeHintForColumn(0) + 4 * kSpace);
  }
  m_tokens->setCurrentIndex(std::max(0, m_tokens->findData(given)));
  const std::string& source = m_state->report->tokens;
  m_tokens->setToolTip(source.empty() ? tokenizerTip()
                                      : tokenizerTip() + QLatin1Char('\n') +
                                            tr("Now: %1").arg(QString::fromStdString(source)));
}

QString LogRequestsView::summary() const {
  const doctor::LogReport& report = *m_state->report;
  if (m_state->stage == LogState::Stage::None) return {};
  if (!m_state->problem.isEmpty()) return tr("The log cannot be diagnosed: %1").arg(m_state->problem);
  QStringList lines;
  const QString counts = tr("Requests: %1. Conversations: %2. %3.")
                             .arg(report.requests.size())
                             .arg(report.conversations)
                             .arg(metricShare("cached-tokens", static_cast<std::int64_t>(report.cached),
                                              "prompt-tokens", static_cast<std::int64_t>(report.prompt)));
  lines << counts;
  if (m_state->stage == LogState::Stage::Stopped)
    lines << tr("The diagnosis was stopped before the end of the log.");
  if (m_state->isRunning() && m_state->stage != LogState::Stage::Reading)
    lines << tr("Computing how many tokens the proposed changes save…");
  if (m_state->isComplete())
    lines << tr("Lost: %1 (%2 of the prompt tokens).")
                 .arg(QString::fromStdString(doctor::costText(report.lost, m_state->settings.prices)),
                      QString::fromStdString(doctor::shareText(report.lostShare())));
  if (report.isEstimated) lines << tr("Token counts are estimates from the length of the text.");
  if (report.refused > 0) lines << tr("Failed requests, which are not counted: %1.").arg(report.refused);
  if (report.problemCount > 0) lines << tr("Skipped or incomplete records: %1.").arg(report.problemCount);
  return lines.join(QLatin1Char(' '));
}

/// The rows of a log that is read grow. The rows that the user sees stay where they are.
void LogRequestsView::showRows() {
  const int topRow = m_table->rowOf(m_table->indexAt(QPoint(0, 0)));
  const bool isSameLog = m_shownFiles == m_state->files && topRow >= 0;
  const bool wasAtTop = isSameLog && m_table->verticalScrollBar()->value() == 0;
  const std::optional<std::size_t> top = isSameLog ? std::optional(m_model->requestOf(topRow)) : std::nullopt;
  const int left = m_table->horizontalScrollBar()->value();
  m_shownFiles = m_state->files;
  m_model->setState(m_state, theme());
  m_table->showRow(m_model->rowOf(m_state->chosen));
  m_shown = m_state->chosen;
  const int row = top ? m_model->rowOf(top) : -1;
  if (wasAtTop) {
    m_table->scrollToTop();
  } else if (row >= 0) {
    m_table->scrollTo(m_table->shownIndex(row), QAbstractItemView::PositionAtTop);
  }
  m_table->horizontalScrollBar()->setValue(left);
}

void LogRequestsView::refresh() {
  if (input() == nullptr) return;
  const auto state = measured<LogDiagnosisKind>(input()->measured);
  const bool isOther =
      state != nullptr && (state->report != m_state->report ||
                           state->report->requests.size() != static_cast<std::size_t>(m_model->rowCount()) ||
                           state->stage != m_state->stage || !(state->settings == m_state->settings));
  const bool isNewTheme = m_table->property("scheme") != static_cast<int>(theme().scheme());
  if (state != nullptr) m_state = state;
  const QScopedValueRollback<bool> showing(m_isShowing, true);
  m_table->setTheme(theme());
  m_table->setProperty("scheme", static_cast<int>(theme().scheme()));
  m_summary->setFont(theme().smallFont());
  colorLabel(*m_summary, theme(), m_state->problem.isEmpty() ? Role::TextSecond : Role::Error);
  if (isOther || isNewTheme) showRows();
  m_table->setColumnHidden(LogRequestsModel::Seconds, !m_state->settings.prices.tokensPerSecond);
  m_table->setColumnHidden(LogRequestsModel::Price, !m_state->settings.prices.perMillion);
  const bool hasReported =
      std::any_of(m_state->report->requests.begin(), m_state->report->requests.end(),
                  [](const doctor::RequestReport& one) { return one.reported.has_value(); });
  m_table->setColumnHidden(LogRequestsModel::Reported, !hasReported);
  if (m_shown != m_state->chosen) m_table->showRow(m_model->rowOf(m_state->chosen));
  m_shown = m_state->chosen;
  m_open->setText(m_state->isRunning() ? tr("Stop") : tr("Open log…"));
  m_open->setToolTip(m_state->isRunning()
                         ? tr("Stop the diagnosis and keep the shown requests")
                         : tr("Open request logs. Spanscope diagnoses several files as one log"));
  m_server->setCurrentIndex(std::max(0, m_server->findData(m_state->settings.server)));
  showModels();
  const auto show = [](QLineEdit* line, std::optional<double> amount) {
    if (!line->hasFocus()) line->setText(amount ? QString::number(*amount) : QString());
  };
  show(m_speed, m_state->settings.prices.tokensPerSecond);
  show(m_price, m_state->settings.prices.perMillion);
  m_document->setEnabled(m_state->chosen.has_value());
  m_spans->setEnabled(m_state->chosen.has_value());
  m_progress->setVisible(m_state->isRunning());
  m_progress->setValue(static_cast<int>(m_state->progress * kProgressSteps));
  m_table->setVisible(m_model->rowCount() > 0);
  const QString text = summary();
  m_summary->setText(text);
  m_summary->setVisible(!text.isEmpty());
  QStringList names;
  for (const QString& file : m_state->files) names << QFileInfo(file).fileName();
  Q_EMIT summaryChanged(names.join(tr(", ")));
  update();
}

void LogRequestsView::paintEvent(QPaintEvent* event) {
  InputView::paintEvent(event);
  QPainter painter(this);
  painter.fillRect(rect(), theme().color(Role::Surface));
  if (m_model->rowCount() > 0 || m_state->stage != LogState::Stage::None) return;
  const int top = m_open->parentWidget()->geometry().bottom();
  paintEmptyText(painter, rect().adjusted(0, top, 0, 0), logIntroduction(), theme());
}

QString LogRequestsView::csv() const {
  if (input() == nullptr) return {};
  const auto state = measured<LogDiagnosisKind>(input()->measured);
  if (state == nullptr || state->report->requests.empty()) return {};
  return QString::fromStdString(doctor::csvReport(*state->report));
}

void LogRequestsView::paintTo(QPainter& painter, const QSize& size) {
  if (input() != nullptr) refresh();
  painter.fillRect(QRect(QPoint(), size), theme().color(Role::Surface));
  if (m_model->rowCount() == 0) {
    paintEmptyText(painter, QRect(QPoint(), size), logIntroduction(), theme());
    return;
  }
  PaintedTable table = paintedTable(*m_model, {2, 7, 2, 5, 5, 4, 2, 2, 2, 2, 8, 4});
  if (table.rows.size() > kMostLogRows) table.rows.resize(kMostLogRows);
  paintTableInto(painter, size, table, theme());
}

ViewInfo logRequestsRow() {
  return {.id = QStringLiteral("log-requests"),
          .title = tr("Requests"),
          .help = tr("The requests of a log, and the cause of each cache miss"),
          .make = makeViewOf<LogRequestsView>,
          .places = {{LayoutId::Diagnose, Room::Low, Room::Low, 0, 0, 0, 58},
                     {LayoutId::Diagnose, Room::Middle, Room::Large, 0, 0, 0, 55}}};
}

}  // namespace spanscope::ui
