import { Item } from './item';

export const List = ({ items }: { items: Item[] }): JSX.Element => {
  const run = (item: Item) => item.name;
  return <ul>{items.map((item) => <Item key={run(item)} label="run" />)}</ul>;
};
