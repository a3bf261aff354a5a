// SPDX-License-Identifier: GPL-3.0-or-later
// The questions of the probe, with their documents. Open this file to change what is asked.
#include "engine/base/counted.h"
#include "engine/experiment/probe.h"
#include "engine/experiment/studies/study.h"

#include <algorithm>
#include <array>
#include <utility>

namespace spanscope::experiment {

namespace {

/// Documents that belong together, and two questions. The first set is about a world that the bundled model
/// knows. In the other sets, the second question needs several documents or lines.
struct QuestionSet {
  const char* name;
  std::array<const char*, 4> documents;
  std::array<const char*, 2> questions;
};

constexpr std::array kSets = {
    QuestionSet{
        .name = "people",
        .documents =
            {"Selma lives in Bergen. She works as a nurse in a small clinic near the harbour. In the evening "
             "she "
             "plays the flute, and on Sunday she sings in a choir. Her sister is called Freya. Selma was "
             "born in "
             "June. Her favourite food is rice with beans, and her favourite colour is violet.",
             "Anton is a tailor. He gets up at three in the morning and walks to the workshop through the "
             "park. "
             "Anton lives in Graz, in a flat above a bookshop. The pet of Anton is a dog called Pepper. He "
             "likes "
             "trains and has a map of all stations on his wall.",
             "Freya works at a bank in Split. She was born in October, four years after her sister. Freya "
             "plays "
             "chess every Tuesday with her neighbour Bruno. She does not like rain, so she spends the winter "
             "with "
             "friends in Malta.",
             "Bruno is a retired teacher. He taught history and geography for thirty years. His garden has "
             "two "
             "apple trees and a pond with six fish. Bruno lives in Split, two doors from Freya. He writes a "
             "letter to the newspaper each week."},
        .questions = {"Which instrument does Selma play?", "Where does Bruno live?"}},
    QuestionSet{
        .name = "manual",
        .documents =
            {"Filling the tank. Lift the lid at the back of the machine. Pour in cold water up to the line "
             "marked "
             "MAX, which is 1.8 litres. Never use hot water or milk. Close the lid until it clicks. If the "
             "blue "
             "lamp blinks, the tank is empty or not in its place.",
             "Making coffee. Put a cup under the spout. One press of the left button makes 60 millilitres. "
             "Two "
             "presses make 120 millilitres. The machine heats the water for 40 seconds before the first cup. "
             "Press the button again to stop early.",
             "Cleaning. Empty the tray every evening and rinse it with warm water. Once a month, run the "
             "machine "
             "with one bag of descaler and one litre of water. Then run it twice with clean water. The red "
             "lamp "
             "lights when the machine has made 200 cups since the last descaling.",
             "Troubleshooting. If the coffee is cold, run one cup of water without coffee first. If no water "
             "comes out, check the tank and then the filter. If both lamps blink at the same time, unplug "
             "the "
             "machine for ten minutes. Call the service if this does not help."},
        .questions = {"After how many cups does the red lamp light?",
                      "What should I check if the blue lamp blinks and no water comes out?"}},
    QuestionSet{
        .name = "news",
        .documents =
            {"The town council of Brandon approved the new bridge on Monday with nine votes to four. The "
             "bridge "
             "will cost 3.2 million euros and will open in two years. It is 84 metres long and has a lane "
             "for "
             "bicycles. The old bridge stays open until then, but only for cars below 3.5 tonnes.",
             "Shop owners in Mill Street are worried about the building work. Half of the customers of Ellen "
             "Brook, who sells shoes, come over the bridge. The council promised free parking on Saturdays. "
             "Shops "
             "that lose money get help from a fund of 50,000 euros.",
             "The company Harlow and Sons will build the bridge. It has 120 workers and built the library in "
             "2016 "
             "and the swimming pool in 2019. Work begins on the first of March on the east bank. The company "
             "must "
             "pay 4,000 euros for each day after the agreed end.",
             "Bus line 7 will take another way from March on. It stops at the hospital and at the market, "
             "but no "
             "longer in Mill Street. A trip takes twelve minutes more than before. Tickets cost the same. "
             "The "
             "timetable is in the town hall and at all stops."},
        .questions = {"How much will the new bridge cost?",
                      "Which company will build the bridge, and when does the work begin?"}},
    QuestionSet{
        .name = "tables",
        .documents =
            {"orders.csv\nid,customer,item,count,price\n1041,Lindqvist,desk lamp,2,39.90\n1042,Okafor,office "
             "chair,1,189.00\n1043,Lindqvist,paper "
             "A4,12,4.50\n1044,Moreau,monitor,2,219.00\n1045,Okafor,desk "
             "lamp,1,39.90\n",
             "customers.csv\nname,city,since,discount\nLindqvist,Malmo,2014,10 %\nMoreau,Lyon,2021,0 "
             "%\nOkafor,Leeds,2018,5 %\nSato,Osaka,2023,0 %\n",
             "def total(order):\n    customer = customers[order.customer]\n    price = order.count * "
             "order.price\n    return round(price * (1 - customer.discount), 2)\n",
             "Notes of the meeting: the discount of Okafor rises to 8 % in April. Orders above 400 euros "
             "need a "
             "second signature. The supplier of monitors is closed in August, so order before the end of "
             "July. "
             "Sato has not ordered anything yet."},
        .questions = {"In which city is the customer Moreau?", "Which customers ordered a desk lamp?"}}};

/// Returns the texts, beginning with number `first`.
std::vector<std::string> textsFrom(const QuestionSet& set, std::size_t first) {
  std::vector<std::string> texts(set.documents.begin(), set.documents.end());
  std::ranges::rotate(texts, texts.begin() + static_cast<std::ptrdiff_t>(first));
  return texts;
}

}  // namespace

query::Node probeQuery(const std::vector<std::string>& documents, const std::string& question) {
  query::Join plus{.kind = query::JoinKind::Plus, .children = {}};
  for (const std::string& document : documents)
    plus.children.push_back(studyMessage(query::Role::User, document));
  query::Join cross{.kind = query::JoinKind::Cross, .children = {}};
  // The first message of a conversation may be written differently, so no document is the first message.
  cross.children.push_back(
      studyMessage(query::Role::User, "Answer the question from these documents, in one short sentence."));
  cross.children.push_back({std::move(plus)});
  cross.children.push_back(studyMessage(query::Role::User, question));
  return studyGenerate(query::Node{std::move(cross)}, kProbeAnswerTokens, 0);
}

std::vector<ProbeQuestion> builtInQuestions() {
  std::vector<ProbeQuestion> questions;
  for (const QuestionSet& set : kSets) {
    for (std::size_t i = 0; i < set.questions.size(); ++i)
      questions.push_back({.name = std::string(set.name) + " " + std::to_string(i + 1),
                           .query = probeQuery(textsFrom(set, i), set.questions[i])});
  }
  return questions;
}

std::vector<ProbeQuestion> ownQuestions(const OwnDocuments& documents) {
  const std::size_t count = documents.count();
  const std::size_t each = std::min(count, kMostOwnDocuments);
  std::vector<ProbeQuestion> questions;
  for (std::size_t i = 0; i < std::min(count, kMostOwnQuestions); ++i) {
    // With many documents, the questions have different ones. With few documents, the order differs.
    const std::size_t first = count >= kMostOwnQuestions * each ? i * each : i;
    OwnDocuments::Asked asked{.documents = {}, .question = 0, .maxTokens = kProbeAnswerTokens};
    for (std::size_t j = 0; j < each; ++j) asked.documents.push_back((first + j) % count);
    questions.push_back({.name = documents.name() + " " + std::to_string(i + 1),
                         .query = documents.query(asked),
                         .isOwn = true});
  }
  return questions;
}

}  // namespace spanscope::experiment
