// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/inspector/augment_section.h"

#include "engine/query/node_parts.h"
#include "ui/views/inspector/text_section.h"

#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QVBoxLayout>

#include <utility>

namespace spanscope::ui {

AugmentSection::AugmentSection(EditOwn edit, const DocumentUndo::ModelOf& model, QWidget* parent)
    : QWidget(parent),
      m_edit(std::move(edit)),
      m_rows(new FormRows(this)),
      m_embedding(new QLineEdit(this)),
      m_name(new QLineEdit(this)),
      m_bytes(new QLabel(this)),
      m_content(new TextSection(model, this)) {
  m_embedding->setObjectName(QStringLiteral("embedding"));
  m_name->setObjectName(QStringLiteral("documentName"));
  m_content->setObjectName(QStringLiteral("content"));
  m_content->setLabel(tr("Text of the document"));
  m_content->setCounted(false);
  m_content->editor()->setMinimumHeight(24 * kSpace);
  for (QLineEdit* line : {m_embedding, m_name}) new DocumentUndo(line, model);
  m_rows->addRow(tr("Embedding model"), m_embedding);
  m_rows->addRow(tr("Document"), m_name);
  m_bytesLabel = m_rows->addRow(tr("Content"), m_bytes);
  m_rows->addWide(m_content);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_rows);

  connect(m_embedding, &QLineEdit::textEdited, this, [this](const QString& text) {
    m_edit(tr("Embedding model"), QStringLiteral("embedding"), [&text](query::Node& own) {
      if (std::string* name = query::embeddingModelOf(own)) *name = text.toStdString();
    });
  });
  const auto editDocument = [this](const QString& name, const QString& field,
                                   const std::function<void(query::SourceDocument&)>& change) {
    m_edit(name, field, [&change](query::Node& own) {
      if (query::SourceDocument* document = query::documentOf(own)) change(*document);
    });
  };
  connect(m_name, &QLineEdit::textEdited, this, [editDocument](const QString& text) {
    editDocument(tr("Name of the document"), QStringLiteral("document"),
                 [&text](query::SourceDocument& document) { document.name = text.toStdString(); });
  });
  connect(m_content, &TextSection::edited, this, [this, editDocument] {
    editDocument(tr("Text of the document"), QStringLiteral("content"),
                 [this](query::SourceDocument& document) { document.content = m_content->text(); });
  });
}

void AugmentSection::setNode(const document::DocumentNode& node) {
  const query::SourceDocument* document = query::documentOf(node.own);
  if (document == nullptr) return;
  const auto show = [](QLineEdit* line, const std::string& text) {
    const QString now = QString::fromStdString(text);
    if (line->text() != now) line->setText(now);
  };
  show(m_embedding, *query::embeddingModelOf(node.own));
  show(m_name, document->name);
  const auto* bytes = std::get_if<std::vector<std::uint8_t>>(&document->content);
  m_bytes->setVisible(bytes != nullptr);
  m_bytesLabel->setVisible(bytes != nullptr);
  m_content->setVisible(bytes == nullptr);
  if (bytes != nullptr)
    m_bytes->setText(tr("a PDF of %1 bytes").arg(bytes->size()));
  else
    m_content->setText(std::get<std::string>(document->content));
}

void AugmentSection::setTheme(const Theme& theme) {
  m_rows->setTheme(theme);
  m_content->setTheme(theme);
}

void AugmentSection::focusFirst() {
  m_name->setFocus(Qt::OtherFocusReason);
}

}  // namespace spanscope::ui
