// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/export/export_dialog.h"

#include "engine/query/node_parts.h"
#include "ui/export/view_picture.h"
#include "ui/views/json/json_editor.h"
#include "ui/words/tr.h"

#include <QClipboard>
#include <QCoreApplication>
#include <QFileDialog>
#include <QFontMetrics>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QLocale>
#include <QPainter>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QVBoxLayout>
#include <QWidget>

#include <algorithm>
#include <utility>

namespace spanscope::ui {

namespace {

constexpr QSize kSize(900, 700);
/// Max bytes in the preview. A longer text on one line would block the window.
constexpr std::size_t kShownBytes = 60'000;

/// Returns the beginning of a long text. The cut is between two characters.
std::string beginningOf(const std::string& text) {
  std::size_t end = std::min(text.size(), kShownBytes);
  const auto isInside = [&text](std::size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
  };
  while (end > 0 && isInside(end)) --end;
  return text.substr(0, end);
}

bool namesFiles(const document::Document& document) {
  const std::vector<document::NodeId> ids = document.ids();
  return std::any_of(ids.begin(), ids.end(), [&document](document::NodeId id) {
    return query::infoOf(document.at(id).own).resolvedBy == query::ResolvedBy::Files;
  });
}

/// Translates a text of the table of targets.
QString targetWord(const char* text) {
  return QCoreApplication::translate("Export", text);
}

QString numberText(std::size_t number) {
  return QLocale().toString(static_cast<qulonglong>(number));
}

}  // namespace

ExportDialog::ExportDialog(const document::Document& document, const QString& name, const Theme& theme,
                           QWidget* parent, const QString& path, std::vector<Problem> problems)
    : QDialog(parent),
      m_document(document),
      m_name(name),
      m_path(path),
      m_problems(std::move(problems)),
      m_theme(theme) {
  setWindowTitle(tr("Export query"));
  build();
  m_targets->setCurrentRow(0);
  connect(&m_tokens, &TokenExport::ready, this, &ExportDialog::tokensMade);
}

void ExportDialog::build() {
  m_explanation = new QLabel(this);
  m_explanation->setWordWrap(true);
  m_settings = new ExportSettings(m_document.settings, m_path, namesFiles(m_document), this);
  connect(m_settings, &ExportSettings::changed, this, &ExportDialog::refresh);

  auto* right = new QVBoxLayout;
  right->setSpacing(3 * kSpace);
  right->addWidget(m_explanation);
  right->addWidget(m_settings);
  right->addWidget(makePreview(), 5);
  right->addWidget(makeRemarks(), 3);
  auto* body = new QHBoxLayout;
  body->setSpacing(4 * kSpace);
  body->addWidget(makeTargets());
  body->addLayout(right, 1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(4 * kSpace, 4 * kSpace, 4 * kSpace, 4 * kSpace);
  column->setSpacing(3 * kSpace);
  column->addLayout(body, 1);
  column->addLayout(makeButtons());
  resize(kSize);
}

QWidget* ExportDialog::makeTargets() {
  m_targets = new QListWidget(this);
  m_targets->setAccessibleName(tr("Target"));
  for (const exports::ExportTarget& target : exports::exportTargets()) {
    auto* item = new QListWidgetItem(targetWord(target.title), m_targets);
    item->setToolTip(targetWord(target.help));
  }
  m_targets->setFixedWidth(m_targets->sizeHintForColumn(0) + 2 * m_targets->frameWidth() + 4 * kSpace);
  connect(m_targets, &QListWidget::currentRowChanged, this, &ExportDialog::chooseTarget);
  return m_targets;
}

QWidget* ExportDialog::makePreview() {
  auto* box = new QWidget(this);
  m_preview = new QPlainTextEdit(box);
  m_preview->setReadOnly(true);
  m_preview->setFont(m_theme.monoFont());
  m_preview->setLineWrapMode(QPlainTextEdit::WidgetWidth);
  m_preview->setWordWrapMode(QTextOption::WrapAnywhere);
  m_preview->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  // The text is read-only, so the Tab key moves the focus.
  m_preview->setTabChangesFocus(true);
  m_preview->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  m_preview->setAccessibleName(tr("Preview"));
  m_highlighter = new JsonHighlighter(m_preview);
  m_highlighter->setTheme(m_theme);
  m_facts = new QLabel(box);
  m_facts->setFont(m_theme.smallFont());
  auto* column = new QVBoxLayout(box);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(kSpace);
  column->addWidget(m_preview, 1);
  column->addWidget(m_facts);
  return box;
}

QWidget* ExportDialog::makeRemarks() {
  auto* box = new QWidget(this);
  m_remarksTitle = new QLabel(box);
  m_remarksTitle->setFont(m_theme.titleFont());
  m_remarks = new QListWidget(box);
  m_remarks->setItemDelegate(new RemarkDelegate(m_theme, m_remarks));
  m_remarks->setAccessibleName(tr(/*id:remarks-target*/ "Remarks on this target"));
  m_remarks->setWordWrap(true);
  m_remarks->setResizeMode(QListView::Adjust);
  m_remarks->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_remarks->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  m_remarksTitle->setBuddy(m_remarks);
  auto* column = new QVBoxLayout(box);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(kSpace);
  column->addWidget(m_remarksTitle);
  column->addWidget(m_remarks, 1);
  connect(m_remarks, &QListWidget::itemActivated, this, [this](const QListWidgetItem* item) {
    const auto node = item->data(RemarkDelegate::NodeRole).value<document::NodeId>();
    if (node != document::kNoNode) Q_EMIT nodeWanted(node);
  });
  return box;
}

QLayout* ExportDialog::makeButtons() {
  m_message = new QLabel(this);
  m_message->setFont(m_theme.smallFont());
  m_message->setWordWrap(true);
  auto* closeButton = new QPushButton(tr("Close"), this);
  m_save = new QPushButton(tr("Sa&ve…"), this);
  m_copy = new QPushButton(tr("&Copy"), this);
  m_copy->setObjectName(QStringLiteral("primary"));
  m_copy->setDefault(true);
  auto* row = new QHBoxLayout;
  row->setSpacing(2 * kSpace);
  row->addWidget(m_message, 1);
  row->addWidget(closeButton);
  row->addWidget(m_save);
  row->addWidget(m_copy);
  connect(closeButton, &QPushButton::clicked, this, &QDialog::reject);
  connect(m_copy, &QPushButton::clicked, this, [this] {
    QGuiApplication::clipboard()->setText(QString::fromUtf8(text()));
    m_message->setText(tr("Copied."));
  });
  connect(m_save, &QPushButton::clicked, this, [this] {
    const QString path = QFileDialog::getSaveFileName(this, tr("Export query"), proposedName());
    if (path.isEmpty()) return;
    const std::optional<Error> error = saveTo(path);
    m_message->setText(error ? QString::fromStdString(error->message()) : tr("Saved as %1").arg(path));
  });
  return row;
}

void ExportDialog::setTarget(const exports::ExportTarget& target) {
  m_targets->setCurrentRow(static_cast<int>(&target - exports::exportTargets().data()));
}

const exports::ExportTarget& ExportDialog::target() const {
  return exports::exportTargets()[static_cast<std::size_t>(std::max(0, m_targets->currentRow()))];
}

QByteArray ExportDialog::text() const {
  return {m_text.data(), static_cast<qsizetype>(m_text.size())};
}

QString ExportDialog::proposedName() const {
  const exports::ExportTarget& written = target();
  QString suffix = QLatin1String(written.part) + QLatin1String(written.suffix);
  // Several lines of JSON are not one JSON text.
  const bool isList =
      written.isJson && !written.has(exports::ExportOption::Tokens) &&
      (written.isRequest || m_settings->options().settings.stage == exports::ExportStage::Lowered);
  if (isList && !m_text.starts_with("{\n") && m_text.find("}\n{") != std::string::npos)
    suffix += QLatin1Char('l');
  return m_name + suffix;
}

std::optional<Error> ExportDialog::saveTo(const QString& path) const {
  return writeFile(path, text());
}

QString ExportDialog::endpoint() const {
  return m_settings->endpoint();
}

QString ExportDialog::model() const {
  return m_settings->model();
}

void ExportDialog::setEndpoint(const QString& endpoint) {
  m_settings->setEndpoint(endpoint);
}

void ExportDialog::setModel(const QString& model) {
  m_settings->setModel(model);
}

void ExportDialog::chooseTarget() {
  const exports::ExportTarget& chosen = target();
  m_explanation->setText(targetWord(chosen.help));
  m_settings->setTarget(chosen);
  m_preview->setAccessibleName(tr("Preview of %1").arg(targetWord(chosen.title)));
  m_highlighter->setDocument(chosen.isJson ? m_preview->document() : nullptr);
  refresh();
}

void ExportDialog::refresh() {
  m_tokens.cancel();
  m_message->clear();
  QueryExportOptions options = m_settings->options();
  options.problems = m_problems;
  auto made = exportQuery(m_document, options);
  if (auto* why = std::get_if<QString>(&made)) {
    showRemarks({});
    showText({}, tr("There is nothing to export yet.\n\n%1").arg(*why));
    return;
  }
  auto& result = std::get<QueryExport>(made);
  showRemarks(result.remarks);
  if (target().has(exports::ExportOption::Tokens)) {
    showText({}, tr("Computing the tokens…"));
    m_tokens.start(m_settings->tokenRequest(std::move(result.query)));
  } else {
    showText(std::move(result.text), tr("The target refuses this query. The remarks give the reasons."));
  }
}

void ExportDialog::tokensMade(const TokenText& made) {
  if (made.problem) {
    showText({},
             tr("The tokens cannot be computed.\n\n%1").arg(QString::fromStdString(made.problem->message())));
    return;
  }
  showText(made.made.text, tr("The target refuses this query. The remarks give the reasons."));
  if (made.made.text.empty()) return;
  const QString facts =
      made.made.prompts == 1
          ? tr("%1 tokens in one prompt").arg(numberText(made.made.tokens))
          : tr("%1 tokens in %2 prompts").arg(numberText(made.made.tokens), numberText(made.made.prompts));
  m_facts->setText(m_facts->text().isEmpty() ? facts : facts + QStringLiteral(" · ") + m_facts->text());
  m_facts->show();
}

void ExportDialog::showText(std::string text, const QString& instead) {
  m_text = std::move(text);
  m_copy->setEnabled(!m_text.empty());
  m_save->setEnabled(!m_text.empty());
  m_facts->clear();
  m_facts->hide();
  const std::string shown = beginningOf(m_text);
  m_preview->setPlainText(m_text.empty() ? instead : QString::fromStdString(shown));
  if (shown.size() < m_text.size()) {
    m_facts->setText(tr("The first %1 of %2 bytes are shown. Copy and Save use all bytes.")
                         .arg(numberText(shown.size()), numberText(m_text.size())));
    m_facts->show();
  }
}

void ExportDialog::showRemarks(const std::vector<ExportRemark>& remarks) {
  m_remarks->clear();
  int refused = 0;
  for (const ExportRemark& remark : remarks) {
    if (remark.effect == exports::Effect::Refused) ++refused;
    auto* item = new QListWidgetItem(remark.text, m_remarks);
    item->setData(RemarkDelegate::EffectRole, static_cast<int>(remark.effect));
    item->setData(RemarkDelegate::NodeRole, QVariant::fromValue(remark.node));
    if (remark.node != document::kNoNode)
      item->setToolTip(tr("Press Return or double-click to show the node"));
    item->setData(Qt::AccessibleTextRole, tr("%1: %2").arg(effectWord(remark.effect), remark.text));
  }
  m_remarksTitle->setText(
      refused == 0   ? tr("&Remarks")
      : refused == 1 ? tr("&Remarks · the target will refuse this query")
                     : tr("&Remarks · the target will refuse this query for %1 reasons").arg(refused));
}

using exports::Effect;

namespace {

constexpr int kTextLeft = 92;  ///< left edge of the text, after the shape and the word
constexpr int kPadding = 5;

Role roleOf(Effect effect) {
  switch (effect) {
    case Effect::Refused:
      return Role::Error;
    case Effect::Differs:
      return Role::ComputedInk;
    case Effect::Note:
      return Role::TextThird;
  }
  return Role::TextThird;
}

/// Paints an octagon for "Refused", a triangle for "Differs", a ring for "Note".
void paintShape(QPainter& painter, const QPointF& middle, Effect effect, const QColor& ink) {
  painter.setPen(QPen(ink, 1.5));
  painter.setBrush(Qt::NoBrush);
  switch (effect) {
    case Effect::Refused:
      painter.setBrush(ink);
      painter.drawRoundedRect(QRectF(middle.x() - 4, middle.y() - 4, 8, 8), 1, 1);
      break;
    case Effect::Differs:
      painter.drawPolygon(
          QPolygonF({middle + QPointF(0, -4.5), middle + QPointF(5, 4), middle + QPointF(-5, 4)}));
      break;
    case Effect::Note:
      painter.drawEllipse(middle, 4, 4);
      break;
  }
}

}  // namespace

QString effectWord(Effect effect) {
  switch (effect) {
    case Effect::Refused:
      return tr("Refused");
    case Effect::Differs:
      return tr("Differs");
    case Effect::Note:
      return tr("Note");
  }
  return {};
}

QSize RemarkDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const int available = option.widget == nullptr ? 600 : option.widget->contentsRect().width() - 20;
  const QRect text = QFontMetrics(m_theme.interfaceFont())
                         .boundingRect(QRect(0, 0, std::max(160, available - kTextLeft - 3 * kSpace), 10000),
                                       Qt::TextWordWrap, index.data(Qt::DisplayRole).toString());
  return {available, text.height() + 2 * kPadding};
}

void RemarkDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                           const QModelIndex& index) const {
  const auto effect = static_cast<Effect>(index.data(EffectRole).toInt());
  const QColor ink = m_theme.color(roleOf(effect));
  const QRect row = option.rect;
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  if (option.state.testFlag(QStyle::State_Selected) && option.state.testFlag(QStyle::State_HasFocus)) {
    painter->setPen(Qt::NoPen);
    painter->setBrush(m_theme.color(Role::AccentFill));
    painter->drawRoundedRect(row.adjusted(2, 1, -2, -1), kSpace, kSpace);
  }
  const int lineHeight = QFontMetrics(m_theme.interfaceFont()).height();
  paintShape(*painter, QPointF(row.left() + 16, row.top() + kPadding + lineHeight / 2.0), effect, ink);
  painter->setFont(m_theme.titleFont());
  painter->setPen(ink);
  painter->drawText(QRect(row.left() + 28, row.top() + kPadding, kTextLeft - 28, lineHeight),
                    Qt::AlignLeft | Qt::AlignVCenter, effectWord(effect));
  painter->setFont(m_theme.interfaceFont());
  painter->setPen(m_theme.color(effect == Effect::Note ? Role::TextSecond : Role::Text));
  painter->drawText(row.adjusted(kTextLeft, kPadding, -3 * kSpace, 0), Qt::TextWordWrap,
                    index.data(Qt::DisplayRole).toString());
  painter->restore();
}

}  // namespace spanscope::ui
