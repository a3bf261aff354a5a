// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/export/export_dialog.h"

#include "ui/export/remark_delegate.h"
#include "ui/export/view_export.h"

#include <QCheckBox>
#include <QClipboard>
#include <QFileDialog>
#include <QFormLayout>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTabWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

enum Tab { JsonTab, YamlTab, LispTab, CurlTab, PythonTab };

bool isOfTab(RemarkScope scope, int tab) {
  switch (scope) {
    case RemarkScope::Yaml:
      return tab == YamlTab;
    case RemarkScope::Lisp:
      return tab == LispTab;
    case RemarkScope::Server:
      return tab == CurlTab || tab == PythonTab;
    case RemarkScope::Everything:
      break;
  }
  return true;
}

}  // namespace

ExportDialog::ExportDialog(const document::Document& document, const QString& name, const Theme& theme,
                           QWidget* parent)
    : QDialog(parent), m_document(document), m_name(name), m_theme(theme) {
  setWindowTitle(tr("Export query"));
  build(theme);
  refresh();
}

void ExportDialog::build(const Theme& theme) {
  m_tabs = new QTabWidget(this);
  m_tabs->setDocumentMode(true);
  m_tabs->setAccessibleName(tr("Forms of the query"));
  const std::array<QString, kTabs> titles{tr("JSON"), tr("YAML"), tr("Lisp"), tr("curl"), tr("Python")};
  for (std::size_t i = 0; i < kTabs; ++i) {
    auto* text = new QPlainTextEdit(this);
    text->setReadOnly(true);
    text->setFont(theme.monoFont());
    text->setLineWrapMode(QPlainTextEdit::WidgetWidth);
    text->setWordWrapMode(QTextOption::WrapAnywhere);
    text->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    // Tab leaves a text that cannot be written into.
    text->setTabChangesFocus(true);
    text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    text->setAccessibleName(titles[i]);
    m_texts[i] = text;
    m_tabs->addTab(text, titles[i]);
  }
  connect(m_tabs, &QTabWidget::currentChanged, this, [this] {
    m_message->clear();
    updateRemarks();
  });

  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(4 * kSpace, 4 * kSpace, 4 * kSpace, 4 * kSpace);
  column->setSpacing(3 * kSpace);
  column->addWidget(makeFields());
  column->addWidget(m_tabs, 3);
  column->addWidget(makeRemarks(theme), 2);
  column->addLayout(makeButtons());
  resize(760, 680);
}

QWidget* ExportDialog::makeFields() {
  auto* fields = new QWidget(this);
  m_endpoint = new QLineEdit(QLatin1String(kDefaultEndpoint), fields);
  m_endpoint->setAccessibleName(tr("Endpoint"));
  m_endpoint->setToolTip(tr("Address of the server's query endpoint, for curl and Python"));
  m_model = new QLineEdit(fields);
  m_model->setAccessibleName(tr("Model"));
  m_model->setPlaceholderText(tr("as the query says"));
  m_model->setToolTip(tr("Takes the place of every model that the query names, e.g. spnl/granite-3.3-8b"));
  m_stream = new QCheckBox(tr("&Stream the answer"), fields);
  m_stream->setChecked(true);
  m_stream->setToolTip(tr("Tokens as they come; answers of one token come in one piece anyway"));
  m_oneLine = new QCheckBox(tr("JSON on &one line"), fields);
  m_oneLine->setToolTip(tr("The canonical form, byte for byte as IBM/spnl writes it"));
  auto* options = new QHBoxLayout;
  options->setSpacing(6 * kSpace);
  options->addWidget(m_stream);
  options->addWidget(m_oneLine);
  options->addStretch();
  auto* form = new QFormLayout(fields);
  form->setContentsMargins(0, 0, 0, 0);
  form->setHorizontalSpacing(4 * kSpace);
  form->setVerticalSpacing(2 * kSpace);
  form->addRow(tr("&Endpoint"), m_endpoint);
  form->addRow(tr("&Model"), m_model);
  form->addRow(QString(), options);
  connect(m_endpoint, &QLineEdit::textChanged, this, &ExportDialog::refresh);
  connect(m_model, &QLineEdit::textChanged, this, &ExportDialog::refresh);
  connect(m_stream, &QCheckBox::toggled, this, &ExportDialog::refresh);
  connect(m_oneLine, &QCheckBox::toggled, this, &ExportDialog::refresh);
  return fields;
}

QWidget* ExportDialog::makeRemarks(const Theme& theme) {
  auto* box = new QWidget(this);
  m_remarksTitle = new QLabel(box);
  m_remarksTitle->setFont(theme.titleFont());
  m_remarks = new QListWidget(box);
  m_remarks->setItemDelegate(new RemarkDelegate(theme, m_remarks));
  m_remarks->setAccessibleName(tr("Remarks on this form"));
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

QByteArray ExportDialog::text() const {
  if (!m_export) return {};
  const auto bytes = [](const std::string& from) {
    return QByteArray(from.data(), static_cast<qsizetype>(from.size()));
  };
  switch (m_tabs->currentIndex()) {
    case YamlTab:
      return bytes(m_export->yaml);
    case LispTab:
      return bytes(m_export->lisp);
    case CurlTab:
      return bytes(m_export->curl);
    case PythonTab:
      return bytes(m_export->python);
    default:
      return bytes(m_oneLine->isChecked() ? m_export->canonical : m_export->pretty);
  }
}

QString ExportDialog::proposedName() const {
  switch (m_tabs->currentIndex()) {
    case YamlTab:
      return m_name + QStringLiteral(".yaml");
    case LispTab:
      return m_name + QStringLiteral(".lisp");
    case CurlTab:
      return m_name + QStringLiteral(".sh");
    case PythonTab:
      return m_name + QStringLiteral(".py");
    default:
      return m_name + QStringLiteral(".json");
  }
}

std::optional<Error> ExportDialog::saveTo(const QString& path) {
  return writeFile(path, text());
}

QString ExportDialog::endpoint() const {
  return m_endpoint->text().trimmed();
}

QString ExportDialog::model() const {
  return m_model->text().trimmed();
}

void ExportDialog::setEndpoint(const QString& endpoint) {
  m_endpoint->setText(endpoint);
}

void ExportDialog::setModel(const QString& model) {
  m_model->setText(model);
}

void ExportDialog::refresh() {
  auto made = exportQuery(m_document, {.endpoint = endpoint().toStdString(),
                                       .model = model().toStdString(),
                                       .stream = m_stream->isChecked()});
  m_export.reset();
  if (auto* result = std::get_if<QueryExport>(&made)) {
    m_export = std::move(*result);
    m_texts[JsonTab]->setPlainText(
        QString::fromStdString(m_oneLine->isChecked() ? m_export->canonical : m_export->pretty));
    m_texts[YamlTab]->setPlainText(QString::fromStdString(m_export->yaml));
    m_texts[LispTab]->setPlainText(QString::fromStdString(m_export->lisp));
    m_texts[CurlTab]->setPlainText(QString::fromStdString(m_export->curl));
    m_texts[PythonTab]->setPlainText(QString::fromStdString(m_export->python));
  } else {
    const Error& error = std::get<Error>(made);
    for (QPlainTextEdit* text : m_texts) {
      text->setPlainText(
          tr("There is nothing to export yet.\n\n%1").arg(QString::fromStdString(error.message())));
    }
  }
  m_copy->setEnabled(m_export.has_value());
  m_save->setEnabled(m_export.has_value());
  m_message->clear();
  updateRemarks();
}

void ExportDialog::updateRemarks() {
  m_remarks->clear();
  if (!m_export) {
    m_remarksTitle->setText(tr("&Remarks"));
    return;
  }
  int refused = 0;
  for (const ExportRemark& remark : m_export->remarks) {
    if (!isOfTab(remark.scope, m_tabs->currentIndex())) continue;
    if (remark.kind == RemarkKind::Refused) ++refused;
    auto* item = new QListWidgetItem(remark.text, m_remarks);
    item->setData(RemarkDelegate::KindRole, static_cast<int>(remark.kind));
    item->setData(RemarkDelegate::NodeRole, QVariant::fromValue(remark.node));
    item->setData(Qt::AccessibleTextRole, tr("%1: %2").arg(remarkWord(remark.kind), remark.text));
  }
  m_remarksTitle->setText(
      refused == 0   ? tr("&Remarks")
      : refused == 1 ? tr("&Remarks · the target will refuse this query")
                     : tr("&Remarks · the target will refuse this query for %1 reasons").arg(refused));
}

}  // namespace spanscope::ui
