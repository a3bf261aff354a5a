// SPDX-License-Identifier: GPL-3.0-or-later
// The models on which a document can be run. Every list of models offers these.
#pragma once

#include "ui/document/document_model.h"
#include "ui/session/view_input.h"

#include <QString>

#include <string>
#include <vector>

namespace spanscope::ui {

enum class ModelOrigin {
  Loaded,   ///< in memory
  Chosen,   ///< the document names it, and no other list holds it
  Recent,   ///< a document ran on it before
  Bundled,  ///< comes with the program
};

struct ModelChoice {
  ModelOrigin origin = ModelOrigin::Bundled;
  QString name;            ///< name of the model's folder
  QString value;           ///< as written in RunSettings::model: a directory; empty: the bundled model
  QString directory;       ///< path of the model's folder
  bool isCurrent = false;  ///< the document runs on it
  bool operator==(const ModelChoice&) const = default;
};

/// Lists each model once, ordered by origin. `current` is RunSettings::model of the document. Recent models
/// whose folder is gone are left out.
std::vector<ModelChoice> modelChoices(const ModelsKnown& known, const std::string& current);
QString originText(ModelOrigin origin);

/// Makes the model the document's model, in one undo step. If the model changes, it clears
/// what was chosen for the old one: RunSettings::standsFor, adapter and chat template. It runs here then. If
/// the document has the usual policy of the old model, it gets that of the new one.
void chooseModel(DocumentModel& model, const QString& value);

/// Has a server of this name answer the document, in one undo step; empty: the embedded engine does.
void chooseServer(DocumentModel& model, const std::string& name);

/// Makes the adapter the one of the document, in one undo step; empty: none. The policy changes as in
/// chooseModel().
void chooseAdapter(DocumentModel& model, const std::string& directory);

}  // namespace spanscope::ui
