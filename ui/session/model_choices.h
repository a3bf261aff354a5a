// SPDX-License-Identifier: GPL-3.0-or-later
// The models that a document can be run on, as every list of them offers.
#pragma once

#include "ui/document/document_model.h"
#include "ui/session/view_input.h"

#include <QString>

#include <string>
#include <vector>

namespace spanscope::ui {

enum class ModelOrigin {
  Loaded,   ///< in memory
  Chosen,   ///< the document's, though it is nowhere else
  Recent,   ///< used before
  Bundled,  ///< comes with the program
};

struct ModelChoice {
  ModelOrigin origin = ModelOrigin::Bundled;
  QString name;            ///< of its folder
  QString value;           ///< as RunSettings::model has it: a directory; empty: the bundled one
  QString directory;       ///< where it is
  bool isCurrent = false;  ///< the document runs on it
  bool operator==(const ModelChoice&) const = default;
};

/// Each once, in the order of their origins. `current`: RunSettings::model of the document. Recent ones that
/// are not there any more are left out.
std::vector<ModelChoice> modelChoices(const ModelsKnown& known, const std::string& current);
QString originText(ModelOrigin origin);

/// Makes it the document's model, in one step that can be undone. What the model before stood in for is
/// forgotten.
void chooseModel(document::DocumentModel& model, const QString& value);

}  // namespace spanscope::ui
