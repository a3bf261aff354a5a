// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/settings/retrieval_rows.h"

#include "engine/query/node_parts.h"
#include "engine/remote/server_address.h"
#include "engine/retrieve/resolve_augments.h"
#include "ui/views/common/checked_field.h"
#include "ui/views/common/text_tools.h"
#include "ui/views/settings/settings_rows.h"

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QSpinBox>

#include <algorithm>
#include <variant>

namespace spanscope::ui {
namespace {

using document::RunSettings;

constexpr int kChunkStep = 16;  ///< tokens

bool hasAugment(const document::Document& document) {
  const std::vector<document::NodeId> ids = document.ids();
  return std::any_of(ids.begin(), ids.end(),
                     [&](document::NodeId id) { return query::documentOf(document.at(id).own) != nullptr; });
}

void choose(QComboBox& combo, const std::string& value) {
  combo.setCurrentIndex(std::max(0, combo.findData(QString::fromStdString(value))));
}

}  // namespace

RetrievalRows::RetrievalRows(SettingsRows& rows) : m_rows(rows) {
  m_rows.addHeader(tr("Retrieval"));
  m_unused = m_rows.addNote(tr("For augments: there is none in this query."));
  m_fragments =
      m_rows.makeSpin(QStringLiteral("fragments"), 1, retrieve::kMaxFragments, &RunSettings::fragments);
  m_fragments->setToolTip(tr("Most fragments that an augment puts into the prompt"));
  add(tr("Fragments"), m_fragments);
  m_ranking = m_rows.makeCombo(QStringLiteral("ranking"),
                               {QStringLiteral("auto"), QStringLiteral("lexical"),
                                QStringLiteral("embedding"), QStringLiteral("hybrid")},
                               &RunSettings::ranking);
  m_ranking->setItemText(0, tr("auto"));
  m_ranking->setItemText(1, tr("shared words (BM25)"));
  m_ranking->setItemText(2, tr("vectors"));
  m_ranking->setItemText(3, tr("both"));
  m_ranking->setToolTip(
      tr("auto: by vectors where an augment names the model that embeds, else by shared words"));
  add(tr("Ranked by"), m_ranking);
  makeChunkRows();
  makeServerRows();
}

void RetrievalRows::makeChunkRows() {
  m_chunk = m_rows.makeSpin(QStringLiteral("chunk"), retrieve::kMinChunkTokens, retrieve::kMaxChunkTokens,
                            &RunSettings::chunk);
  m_chunk->setSuffix(tr(" tokens"));
  m_chunk->setSingleStep(kChunkStep);
  m_chunk->setToolTip(tr("Most tokens of a fragment. Documents are indexed again for another size."));
  add(tr("Chunk size"), m_chunk);
  m_overlap =
      m_rows.makeSpin(QStringLiteral("overlap"), 0, retrieve::kMaxChunkTokens / 4, &RunSettings::overlap);
  m_overlap->setSuffix(tr(" tokens"));
  m_overlap->setToolTip(tr("Most tokens that a fragment shares with the one before"));
  add(tr("Overlap"), m_overlap);
  m_overlapHint = m_rows.addHint();
  m_summaries = m_rows.makeCheck(QStringLiteral("summaries"), tr("Search summaries too, made by the model"),
                                 &RunSettings::summaries);
  m_summaries->setToolTip(
      tr("The model sums up neighbouring fragments, and their summaries again, when documents are indexed"));
  add({}, m_summaries);
}

void RetrievalRows::makeServerRows() {
  m_embeddings =
      m_rows.makeCombo(QStringLiteral("embeddings"), {QStringLiteral("checkpoint"), QStringLiteral("server")},
                       &RunSettings::embeddings);
  m_embeddings->setItemText(0, tr("the checkpoint"));
  m_embeddings->setItemText(1, tr("a server"));
  m_embeddings->setToolTip(tr("Whose vectors fragments are ranked by"));
  add(tr("Embeddings from"), m_embeddings);
  m_address = new CheckedField(
      tr("Address of the server"), [this](const QString& text) { return applyAddress(text); },
      m_rows.owner());
  m_address->setObjectName(QStringLiteral("embeddingsUrl"));
  m_address->line()->setPlaceholderText(QStringLiteral("http://localhost:8000/v1"));
  m_address->line()->setToolTip(tr("Of an API with OpenAI's POST /embeddings"));
  m_model = new CheckedField(
      tr("Model of the server"), [this](const QString& text) { return applyModel(text); }, m_rows.owner());
  m_model->setObjectName(QStringLiteral("embeddingsModel"));
  m_model->line()->setToolTip(tr("The model that the server is to embed with, as it calls it"));
  m_server = {add(tr("Address"), m_address), m_address, add(tr("Model there"), m_model), m_model};
  for (CheckedField* field : {m_address, m_model}) {
    new DocumentUndo(field->line(), m_rows.modelOf());
    QObject::connect(field->line(), &QLineEdit::editingFinished, &m_rows, [this] { m_rows.endMerge(); });
  }
  m_serverHint = m_rows.addHint();
}

QLabel* RetrievalRows::add(const QString& label, QWidget* field) {
  QLabel* const text = m_rows.addRow(label, field);
  if (text != nullptr) m_widgets.push_back(text);
  m_widgets.push_back(field);
  return text;
}

QString RetrievalRows::applyAddress(const QString& text) {
  const std::string url = text.trimmed().toStdString();
  // None is no mistake while the person has not typed it yet.
  if (!url.empty()) {
    const auto address = remote::readServerAddress(url);
    if (const auto* problem = std::get_if<Error>(&address)) {
      return tr("Expected %1").arg(QString::fromStdString(problem->expected));
    }
  }
  m_rows.change(tr("Address of the server"), QStringLiteral("embeddingsUrl"),
                [&url](RunSettings& settings) { settings.embeddingsUrl = url; });
  return {};
}

QString RetrievalRows::applyModel(const QString& text) {
  m_rows.change(tr("Model of the server"), QStringLiteral("embeddingsModel"),
                [&text](RunSettings& settings) { settings.embeddingsModel = text.trimmed().toStdString(); });
  return {};
}

void RetrievalRows::show(const document::Document& document, const Theme& theme) {
  const RunSettings& settings = document.settings;
  m_fragments->setValue(settings.fragments);
  choose(*m_ranking, settings.ranking);
  m_chunk->setValue(settings.chunk);
  m_overlap->setValue(settings.overlap);
  m_summaries->setChecked(settings.summaries);
  choose(*m_embeddings, settings.embeddings);
  m_address->setTheme(theme);
  m_address->setText(QString::fromStdString(settings.embeddingsUrl));
  m_model->setTheme(theme);
  m_model->setText(QString::fromStdString(settings.embeddingsModel));

  const bool isUsed = hasAugment(document);
  m_unused->setVisible(!isUsed);
  for (QWidget* widget : m_widgets) widget->setVisible(isUsed);
  const int most = settings.chunk / 4;
  m_overlapHint->setText(tr("A quarter of the chunk counts: %1 tokens").arg(most));
  m_overlapHint->setVisible(isUsed && settings.overlap > most);
  const bool isServer = isUsed && settings.embeddings == "server";
  for (QWidget* widget : m_server) widget->setVisible(isServer);
  m_serverHint->setVisible(isServer);
  const bool isWhole = !settings.embeddingsUrl.empty() && !settings.embeddingsModel.empty();
  m_serverHint->setText(
      isWhole
          ? tr("Texts of documents and questions are sent there, with the key in SPANSCOPE_EMBEDDINGS_KEY if "
               "there is one.")
          : tr("A run that ranks by vectors needs the address and the name of a model."));
}

}  // namespace spanscope::ui
