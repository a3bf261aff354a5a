// SPDX-License-Identifier: GPL-3.0-or-later
// The table of golden pictures: the canvas and every view, at two sizes.
#pragma once

#include "ui/session/view_input.h"

#include <QImage>
#include <QSize>
#include <QString>

#include <vector>

namespace spanscope::test {

enum class Scene {
  Example,          ///< pictureScene()
  TwentyDocuments,  ///< twentyDocuments(), with one document selected
  TwentyCards,      ///< twentyDocumentsScene()
  Steps,            ///< stepsScene()
  NotPrediction,    ///< stepsScene() without a prediction
  Experiment,       ///< pictureScene() with sampleExperiment()
  Benchmark,        ///< pictureScene() with sampleBenchmark()
  Lengths,          ///< pictureScene() with sampleLengths()
  Policies,         ///< pictureScene() with samplePolicies()
  Mistakes,         ///< mistakenScene()
  Passages,         ///< passagesScene()
  NextTokens,       ///< pictureScene() with alternatives of its last answer
  Entropy,          ///< pictureScene() with the entropy of its last answer, layer by layer
};

/// One entry for each picture: its name, and "canvas" or the id of a view in viewTable().
struct Picture {
  QString name;
  QString id;
  QSize size;
  Scene scene = Scene::Example;
};

const std::vector<Picture>& pictureTable();
/// The index of the entry with this name, which must exist.
std::size_t pictureIndex(const QString& name);

ui::ViewInput sceneOf(Scene scene);
QImage renderPicture(const Picture& picture, const ui::ViewInput& input, ui::Scheme scheme);
/// The name of the picture's file, e.g. "canvas-wide-dark".
QString pictureName(const Picture& picture, ui::Scheme scheme);

}  // namespace spanscope::test
