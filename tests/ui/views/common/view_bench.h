// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/document/document_model.h"
#include "ui/views/view.h"

#include <memory>
#include <string_view>

namespace spanscope::ui::testing {

/// Does for one view what the window does: it gives the view document, selection and theme, and follows its
/// wishes.
class ViewBench : public QObject {
  Q_OBJECT
 public:
  ViewBench(View& view, std::string_view query);

  ui::DocumentModel& model() { return *m_model; }
  const document::Document& document() const { return m_model->document(); }
  void select(document::NodeId node);
  void setTheme(Scheme scheme);
  void loadTokenizer();
  void setDevices(std::vector<compute::Device> devices);
  void setPrediction(std::shared_ptr<const DocumentPrediction> prediction);
  const Selection& selection() const { return m_input.selection; }
  const QStringList& commands() const { return m_commands; }
  QString summary() const { return m_summary; }

  /// Shows the view at this size and waits until it is exposed.
  void show(const QSize& size);
  /// Saves pictures in both themes to the folder SPANSCOPE_PICTURES, if it is set.
  void picture(const QString& name);

 private:
  void give();

  View& m_view;
  std::unique_ptr<ui::DocumentModel> m_model;
  ViewInput m_input;
  QStringList m_commands;
  QString m_summary;
};

}  // namespace spanscope::ui::testing
