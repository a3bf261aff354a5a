// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/views/common/view_bench.h"

#include "engine/query/json/json.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/resource_paths.h"
#include "ui/session/token_counts.h"

#include <QApplication>
#include <QTest>

#include <utility>
#include <vector>

namespace spanscope::ui::testing {

ViewBench::ViewBench(View& view, std::string_view query) : m_view(view) {
  document::Document document;
  if (!query.empty()) {
    const query::ParseResult result = query::parseJson(query);
    if (!result.query) qFatal("%s", result.diagnostics.front().located("query").c_str());
    document = document::fromQuery(*result.query);
  }
  m_model = std::make_unique<ui::DocumentModel>(std::move(document));
  m_input.trace = std::make_shared<const TraceStore>();
  connect(m_model.get(), &ui::DocumentModel::changed, this, &ViewBench::give);
  connect(&view, &View::selectionWanted, this, [this](const Selection& selection) {
    m_input.selection = selection;
    give();
  });
  connect(&view, &View::commandWanted, this, [this](const QString& id) { m_commands += id; });
  connect(&view, &View::summaryChanged, this, [this](const QString& text) { m_summary = text; });
  setTheme(Scheme::Light);
  view.setModel(m_model.get());
  give();
}

void ViewBench::give() {
  m_input.document = m_model->snapshot();
  m_view.setInput(m_input);
}

void ViewBench::select(document::NodeId node) {
  m_input.selection = {};
  m_input.selection.nodes = {node};
  give();
}

void ViewBench::setTheme(Scheme scheme) {
  m_input.theme = Theme(scheme);
  QApplication::setPalette(m_input.theme.palette());
  QApplication::setFont(m_input.theme.interfaceFont());
  qApp->setStyleSheet(m_input.theme.styleSheet());
  if (m_model != nullptr && m_input.document != nullptr) give();
}

void ViewBench::setDevices(std::vector<compute::Device> devices) {
  m_input.devices = std::make_shared<const std::vector<compute::Device>>(std::move(devices));
  give();
}

void ViewBench::setPrediction(std::shared_ptr<const DocumentPrediction> prediction) {
  m_input.prediction.newest = std::move(prediction);
  give();
}

void ViewBench::loadTokenizer() {
  m_input.tokenizer = text::loadTokenizer(workbench::bundledModelDirectory());
  // As the workspace does: what was missing is asked for again.
  m_input.tokenCounts = std::make_shared<TokenCounts>(m_input.tokenizer);
  m_input.tokenCounts->onCounted([this] {
    ++m_input.tokensCounted;
    give();
  });
  give();
}

void ViewBench::show(const QSize& size) {
  m_view.resize(size);
  m_view.setAutoFillBackground(true);
  m_view.show();
  m_view.activateWindow();
  if (!QTest::qWaitForWindowActive(&m_view)) qWarning("the window is not active");
}

void ViewBench::picture(const QString& name) {
  const QString folder = qEnvironmentVariable("SPANSCOPE_PICTURES");
  if (folder.isEmpty()) return;
  for (const Scheme scheme : {Scheme::Light, Scheme::Dark}) {
    setTheme(scheme);
    QPalette palette = m_view.palette();
    palette.setColor(QPalette::Window, m_input.theme.color(Role::Surface));
    m_view.setPalette(palette);
    QTest::qWait(50);
    QImage image(m_view.size() * 2, QImage::Format_ARGB32);
    image.setDevicePixelRatio(2);
    image.fill(m_input.theme.color(Role::Surface));
    m_view.render(&image, QPoint(), QRegion(), QWidget::DrawChildren);
    image.save(
        QStringLiteral("%1/%2-%3.png")
            .arg(folder, name, scheme == Scheme::Light ? QStringLiteral("light") : QStringLiteral("dark")));
  }
  setTheme(Scheme::Light);
}

}  // namespace spanscope::ui::testing
