export interface Note {
  readonly title: string;
  readonly text: string;
}

/** A very small encyclopedia. Add a note and `look_up` finds it. */
export const notes: readonly Note[] = [
  {
    title: "Tide",
    text: "Tides are the regular rise and fall of the sea, caused by the gravity of the Moon and, a little less than half as strongly, of the Sun. Most coasts see two high tides and two low tides in about 24 hours and 50 minutes. Spring tides, with the largest range, come around new and full moon.",
  },
  {
    title: "Solar eclipse",
    text: "A solar eclipse happens when the Moon passes between the Sun and the Earth, which is possible only at new moon. The Moon's orbit is tilted by about five degrees, so most new moons bring no eclipse. Totality at one place lasts at most about seven and a half minutes.",
  },
  {
    title: "Lunar eclipse",
    text: "A lunar eclipse happens when the Earth's shadow falls on the Moon, which is possible only at full moon. A totally eclipsed Moon looks red, because the atmosphere bends red sunlight into the shadow. It can be seen from the whole night side of the Earth.",
  },
  {
    title: "Photosynthesis",
    text: "In photosynthesis plants, algae and cyanobacteria use light to turn carbon dioxide and water into sugar, and release oxygen. In plants it takes place in chloroplasts, where chlorophyll absorbs mostly blue and red light and reflects green.",
  },
  {
    title: "Rainbow",
    text: "A rainbow appears when sunlight is refracted and reflected inside water drops. The primary bow lies about 42 degrees around the point opposite the Sun, with red on the outside. A secondary bow at about 51 degrees has its colours reversed.",
  },
  {
    title: "Plate tectonics",
    text: "The Earth's outer shell is broken into plates that move a few centimetres a year. New crust forms at mid-ocean ridges, and old oceanic crust sinks back into the mantle at subduction zones. Most earthquakes and volcanoes lie along the edges of plates.",
  },
  {
    title: "Water cycle",
    text: "Water evaporates from seas and land, condenses to clouds, falls as rain or snow, and returns to the sea in rivers and groundwater. The Sun drives the cycle. About 97 percent of the Earth's water is in the oceans.",
  },
  {
    title: "Seasons",
    text: "The seasons come from the tilt of the Earth's axis, about 23.4 degrees, not from its distance to the Sun. The hemisphere that leans towards the Sun has summer. The Earth is in fact closest to the Sun in early January.",
  },
  {
    title: "Speed of light",
    text: "Light in a vacuum travels exactly 299,792,458 metres per second; since 1983 the metre is defined by this number. Sunlight needs about eight minutes and twenty seconds to reach the Earth.",
  },
  {
    title: "Speed of sound",
    text: "Sound travels at about 343 metres per second in air of 20 degrees Celsius, faster in warm air than in cold. In water it is more than four times as fast. Counting three seconds between lightning and thunder means a distance of about one kilometre.",
  },
  {
    title: "DNA",
    text: "DNA carries the genetic information of living things. It is a double helix whose strands are held together by base pairs: adenine with thymine, guanine with cytosine. Its structure was published by James Watson and Francis Crick in 1953, building on X-ray work by Rosalind Franklin.",
  },
  {
    title: "Vaccine",
    text: "A vaccine trains the immune system to recognise a pathogen before an infection. Edward Jenner tested the first one in 1796, with cowpox against smallpox. Smallpox was declared eradicated in 1980.",
  },
  {
    title: "Antibiotic",
    text: "Antibiotics kill bacteria or stop their growth and do nothing against viruses. Alexander Fleming discovered penicillin in 1928. Bacteria can become resistant, and every use of an antibiotic favours those that are.",
  },
  {
    title: "Honey bee",
    text: "Honey bees live in colonies of one queen, tens of thousands of workers and, in season, some drones. Foragers show the direction and distance of flowers with a waggle dance, which Karl von Frisch deciphered. A worker that stings a mammal usually dies of it.",
  },
  {
    title: "Coral reef",
    text: "Coral reefs are built by small animals that deposit limestone. Most reef corals live together with algae that give them food and colour. When the water stays too warm, corals expel the algae and bleach. The largest reef system is the Great Barrier Reef off Australia.",
  },
  {
    title: "Printing press",
    text: "Johannes Gutenberg introduced printing with movable metal type in Europe around 1450, in Mainz. Movable type had been used in China since the eleventh century and metal type in Korea before Gutenberg. His Bible was finished around 1455.",
  },
  {
    title: "Steam engine",
    text: "Thomas Newcomen built the first widely used steam engine in 1712, to pump water out of mines. James Watt's separate condenser, patented in 1769, cut the fuel it needed sharply and made steam useful in factories.",
  },
  {
    title: "Suez Canal",
    text: "The Suez Canal joins the Mediterranean and the Red Sea and saves ships the way around Africa. It opened in 1869, is about 193 kilometres long and has no locks, because both seas are at nearly the same level.",
  },
  {
    title: "Periodic table",
    text: "Dmitri Mendeleev published his periodic table in 1869, ordered the elements by atomic weight and left gaps for unknown ones. Today they are ordered by the number of protons; 118 elements are known.",
  },
  {
    title: "Turing machine",
    text: "Alan Turing described his abstract machine in 1936: a tape of symbols and a finite table of rules. It defines what can be computed. No such machine can decide for every program whether it halts.",
  },
  {
    title: "Binary search",
    text: "Binary search finds a value in a sorted list by comparing it with the middle element and dropping the half that can not hold it. It needs at most about log2(n) + 1 comparisons: twenty for a million entries.",
  },
];
